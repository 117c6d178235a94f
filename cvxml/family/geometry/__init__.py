"""Coordinates of the points, exact spans, symmetric matrices as vectors, and the budget of similar pairs."""
