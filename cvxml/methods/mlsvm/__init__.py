"""MLSVM (Nguyen, Guo 2008): a margin-based metric as a quadratic semidefinite program.

method.py is the member of the family; problem.py the literal statement and its dual; fast.py the solver
(dual.py, interior.py); evaluate.py what an implementer compares; algorithm1.py the paper's algorithm.
"""
