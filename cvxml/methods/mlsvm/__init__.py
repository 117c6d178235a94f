"""MLSVM (paper 002): a margin-based metric as a quadratic semidefinite program.

method.py is the contract; problem.py the literal statement and its dual; certify.py the proof; fast.py the solver
(dual.py, newton.py, interior.py); evaluate.py what an implementer compares; algorithm1.py the paper's algorithm;
kernel.py the kernel method.
"""
