"""GLML: a local metric from generative models (Noh, Zhang, Lee 2010, 2018).

problem.py      The literal problem at one query, and its dual, in cvxpy.
definitions.py  The formulas of the papers by loops: B and the objective. Every other file is tested against this one.
instance.py     The checked inputs, and the densities of the classes: Gaussians or mixtures.
solver.py       The solver: B at many queries, and the closed form of the metric with its four cases.
certify.py      The certificate for a given B: bound, gap, radius. It imports no other file of this folder.
proved_B.py     Bounds on the error of B in floats, and the proof that B is definite, indefinite, singular or zero.
exact.py        The certificate without rounding: B in balls and rationals, and the exact interval.
rational.py     An interval for a B of floats, for the verified checker.
misreadings.py  The mistakes that `check` recognises.
method.py       The class GLML, through which the package calls the other files; cvxml/estimators/glml.py classifies.
"""
