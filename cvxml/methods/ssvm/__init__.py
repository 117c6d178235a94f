"""Neighbourhood gerrymandering (Trivedi et al. 2014): a metric as a latent structural SVM.

problem.py           What is the problem? The literal step of CCCP, four times, and its dual, in cvxpy.
enumeration.py       What does the paper define? F and both inferences, by loops over sets of neighbours.
instance.py          Which inputs are allowed?
inference.py         Which sets does a metric choose, and what is F there? Exact, for all points at once.
step.py              How is a convex step solved, and how does CCCP repeat steps?
solver.py            How is it solved? Starts, the choice of the best run, steps through cvxpy.
branch_and_bound.py  How is the global optimum found, at small scale?
certify.py           How is it proved? The step as a sum of family terms, and rounding in the inferences.
tree.py              How is a global optimum proved? A tree of cases, and a bound for each leaf.
exact.py             How is the step proved without rounding? In rational numbers.
exact_tree.py        What does the verified checker need of a tree? Its dual variables as fractions.
algorithms.py        What does the paper run? Algorithms 1 to 3, as printed and corrected; for comparison.
misreadings.py       Which mistakes are recognised?
method.py            How does the package call all this? The class SSVM.
"""
