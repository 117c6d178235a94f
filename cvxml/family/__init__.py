"""Convex methods as members of one family, whose theorem is proved once (theorem.py); its parts, and solvers."""
