"""All pairs of points without a list of them."""
