"""Kernel MLSVM (Nguyen, Guo 2008): MLSVM on the rows of a square root of the kernel matrix K.

method.py has the class `KernelMLSVM` and Algorithm 1, and instance.py the checked inputs. The exact bounds are in
exact.py, and the error bounds of the certificate in rounding.py. The mistakes that `check` can name are in
misreadings.py.
"""
