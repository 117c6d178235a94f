"""Coordinates of the points, exact spans, and symmetric matrices as vectors.

budget.py has metrics with a budget: the squared distances of the similar pairs have a sum of at most 1.
"""
