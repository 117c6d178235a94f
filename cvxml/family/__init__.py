"""The family of problems that one theorem covers: a regularizer R(M) plus losses phi(v) of squared distances.

M is the metric, and D_p = <M, X_p> the squared distance of a pair p = (i, j) of points, X_p = (x_i - x_j)(x_i - x_j)^T.
Each value v_t is a sum of distances with constants B_tp, and has a dual variable a_t. G is sum_tp a_t B_tp X_p.

rows/          v_t = sum_p B_tp D_p over pairs p of points
losses/        phi(v), with a concave conjugate k(a): phi(v) >= k(a) - a v
geometry/      coordinates of the points, spans, symmetric matrices, limits of the distances of similar pairs
regularizers/  R(M), with a bound r(G): R(M) - <M, G> >= r(G)
theorem/       the lower bound k(a) + r(G), and the gap: in floats, rationals and balls (intervals with a proved radius)
stationary/    how far a metric is from a stationary point, for nonconvex problems
unlisted/      sums over all pairs of points without a list of the pairs
nearby/        all metrics with an objective near the optimum

Each folder imports only the folders above it.
"""
