"""Sums over all pairs of points, given by labels, without a list of the pairs."""
