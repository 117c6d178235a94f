"""GLML: a local metric from generative models (Noh, Zhang, Lee 2010, 2018).

Each query point has its metric A. With densities of the classes, a matrix B is computed at the query. The problem is to
minimise (tr A^-1 B)^2 over the metrics of determinant 1. It has a closed form.

problem.py      The literal problem at one query, and its dual, in cvxpy.
definitions.py  The formulas of the papers by loops: B and the objective. Every other file is tested against this one.
instance.py     The checked inputs, and the densities of the classes: Gaussians or mixtures.
solver.py       The solver: B at many queries, and the closed form of the metric with its four cases.
certify.py      The certificate for a given B: lower bound, gap, and the distance to the optimum.
proved_B.py     Bounds on the error of B in floats, and the proof that B is definite, indefinite, singular or zero.
exact.py        The certificate without rounding errors, in intervals and rationals.
rational.py     An interval for a B of floats, for a checker whose proof Coq has verified.
misreadings.py  The mistakes that `check` recognises.
method.py       The class GLML, through which the package calls the other files; cvxml/estimators/glml.py classifies.
"""
