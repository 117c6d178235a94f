"""The family of problems that one theorem covers: a regularizer R(M) plus losses phi(v) of squared distances.

rows/          v_t = sum_p B_tp D_p over pairs p of points
losses/        phi(v), with a conjugate bound k(a)
geometry/      coordinates of the points, spans, symmetric matrices, budgets
regularizers/  R(M), with a bound r(G)
theorem/       the lower bound k(a) + r(G), and the gap, in floats, balls and rationals
stationary/    how far a metric is from a stationary point, for nonconvex problems
unlisted/      sums over all pairs of points without a list of the pairs
nearby/        all metrics with an objective near the optimum
Each folder imports only the folders above it.
"""
