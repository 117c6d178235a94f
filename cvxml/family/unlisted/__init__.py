"""Sums over every two points given by labels, without a list of the pairs."""
