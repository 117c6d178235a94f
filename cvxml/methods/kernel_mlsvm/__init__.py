"""MLSVM with a kernel: the linear problem on the rows of a root of K."""
