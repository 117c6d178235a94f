"""Solvers for convex regularizers with losses of distances, and the parts of which these solvers are made.

A solver returns a metric and dual variables. It does not depend on the method: the regularizer and the losses are its
input, usually in a `Task` (task.py). choose_solver.py picks the solver, and family_method.py is the base class of the
methods that use it. A solver proves nothing; certificates are computed in cvxml/family/theorem.
"""
