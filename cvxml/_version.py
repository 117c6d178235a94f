"""The version, in a separate file, so that packaging can read it without importing the package."""

__version__ = "0.3.0"
