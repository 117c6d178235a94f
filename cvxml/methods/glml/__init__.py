"""GLML: a local metric from generative models (papers 000 and 003)."""
