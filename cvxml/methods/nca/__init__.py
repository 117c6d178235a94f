"""NCA: neighbourhood components analysis (Goldberger et al. 2004).

The metric is Q = A^T A. Its objective F is -f or -g. Let p_i be the probability that a random neighbour classifies
point i correctly. f is the sum of the p_i, and g the sum of their logarithms. F is not convex. The convex step at a
metric is a convex function that is at least F everywhere and equals F at this metric.

problem.py      The convex step in cvxpy, its dual, and the convex case.
definitions.py  The formulas of our source by loops: f, g, their gradients, and all intermediates row by row.
instance.py     The checked inputs: points, classes or a similarity, rank, criterion.
descent.py      The fast objective, gradient and Hessian, and their descent.
solver.py       The solver: starts, descents, dual variables, and the choice of the best metric.
rows.py         Bounds on the rounding errors of the probabilities and of the gradient, point by point.
certify.py      The certificate: stationarity, the bound of the convex step, and suprema that no metric attains.
exact.py        The certificate without rounding errors, in exact arithmetic and in intervals.
misreadings.py  The mistakes that `check` recognises.
method.py       The class NCA, through which the package calls the other files.
"""
