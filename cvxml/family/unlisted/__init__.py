"""Sums over all pairs of points with equal labels, or with different labels, without a list of the pairs."""
