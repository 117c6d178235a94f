"""The lower bound and the gap of every member of the family: a regularizer R(M) plus losses of squared distances.

theorem.py computes them in floats with error bounds, exact.py in rationals, and ball_certificate.py from intervals with
a proved radius (balls).
"""
