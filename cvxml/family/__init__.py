"""Convex methods as members of one family, whose theorem is proved once (bound.py); its parts, and solvers."""
