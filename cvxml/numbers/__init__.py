"""Numbers with proved error bounds, from which certificates compute their bounds.

sums.py         Sums of floats with a bound of the rounding error.
rounding.py     Distances, matrix products and eigenvalues in double precision, with error bounds.
enclosures.py   Arrays of real numbers, each known by a midpoint and a radius.
rational.py     Points, metrics and distances as rational numbers.
span.py         Exact ranks of differences of points.
vocabulary.py   Functions for formulas that are evaluated with floats, enclosures or exact numbers.
"""
