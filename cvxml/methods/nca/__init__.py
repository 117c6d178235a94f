"""NCA: neighbourhood components analysis (Goldberger et al. 2004).

problem.py      What is the problem? The convex step at a metric, its dual, and the convex case, in cvxpy.
definitions.py  What does the note print? f, g and their gradients by loops, and all intermediates row by row.
instance.py     Which inputs are allowed? Points, classes or a similarity, rank, criterion.
descent.py      How are objective, gradient and Hessian computed fast, and how are they descended?
solver.py       How is it solved? Starts, descents, the dual variables, and the choice of the best metric.
rows.py         How far may p, w and the gradient in floats be from the true ones? Point by point.
certify.py      How is it proved? Stationarity, the bound of the convex step, and suprema at infinity.
exact.py        How is it proved without rounding? The interval in balls.
misreadings.py  Which mistakes are recognised?
method.py       How does the package call all this? The class NCA.
"""
