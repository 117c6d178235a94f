"""Kernel MLSVM (Nguyen, Guo 2008): MLSVM on the rows of a square root of the kernel matrix K.

method.py has the class `KernelMLSVM` and Algorithm 1, instance.py the checked inputs, exact.py the exact bounds,
rounding.py the error bounds of the certificate, and misreadings.py the mistakes that `check` can name.
"""
