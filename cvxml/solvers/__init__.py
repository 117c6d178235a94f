"""Solvers for convex regularizers with losses of distances, and the building blocks of these solvers.

A solver returns a metric and dual variables. It does not depend on the method: the regularizer and the losses are its
input, usually in a `Task` (task.py). The file choose_solver.py picks the solver, and family_method.py is the base class
of the methods that use it. A solver gives no proof; certificates are computed in cvxml/family/theorem.
"""
