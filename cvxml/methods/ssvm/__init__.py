"""Neighbourhood gerrymandering (Trivedi et al. 2014): a metric as a latent structural SVM.

A point gets the class that wins a vote of k neighbours. The latent variable of a point is its set of k neighbours. The
problem is not convex. The concave-convex procedure (CCCP) solves a sequence of convex problems, its steps.

problem.py           The convex step of CCCP, stated in four ways, and its dual, in cvxpy.
enumeration.py       The definitions of the paper by loops over sets: the objective F and both inferences.
instance.py          The checked inputs.
inference.py         The sets that a metric chooses, and F there; exact, for all points at once.
step.py              The fast solver of a convex step, and CCCP.
solver.py            From inputs to a metric: starts, CCCP from each start, and the choice of the best run.
branch_and_bound.py  The global optimum at small scale.
certify.py           The certificate of a metric: a lower bound of its convex step, with all rounding errors.
tree.py              The certificate of a global optimum: a tree of cases, and a lower bound for each leaf.
exact.py             The certificate of a convex step in rational numbers.
exact_tree.py        The tree with its dual variables as fractions, for a checker whose proof Coq has verified.
algorithms.py        Algorithms 1 to 3 of the paper, as printed and corrected, for comparison.
misreadings.py       The mistakes of implementations that `check` can name.
method.py            The class SSVM, through which the package calls the other files.
"""
