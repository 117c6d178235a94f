"""NCA: neighbourhood components analysis (Goldberger et al. 2004).

problem.py      The problem in cvxpy: the convex step at a metric, its dual, and the convex case.
definitions.py  The formulas of the note by loops: f, g, their gradients, and all intermediates row by row.
instance.py     The checked inputs: points, classes or a similarity, rank, criterion.
descent.py      The fast objective, gradient and Hessian, and their descent.
solver.py       The solver: starts, descents, dual variables, and the choice of the best metric.
rows.py         Bounds on the rounding errors of p, w and the gradient, point by point.
certify.py      The certificate: stationarity, the bound of the convex step, and suprema at infinity.
exact.py        The certificate without rounding: the interval in balls.
misreadings.py  The mistakes that `check` recognises.
method.py       The class NCA, through which the package calls the other files.
"""
