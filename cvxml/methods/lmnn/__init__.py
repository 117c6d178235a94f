"""LMNN, large margin nearest neighbours: the linear hinge, and the squared one as a formula of its own."""
