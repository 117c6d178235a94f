"""Kernel MLSVM (Nguyen, Guo 2008): MLSVM on the rows of a square root of the kernel matrix K.

method.py has the class `KernelMLSVM` and Algorithm 1, and instance.py the checked inputs. exact.py has the exact
bounds, and rounding.py the error bounds of the certificate. misreadings.py has the mistakes that `check` can name.
"""
