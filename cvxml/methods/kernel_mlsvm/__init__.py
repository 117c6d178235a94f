"""Kernel MLSVM (Nguyen, Guo 2008): the linear problem on the rows of a square root of the kernel matrix K."""
