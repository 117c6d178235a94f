"""The lower bound and the gap of every member of the family, in floats, in balls and in rationals."""
