"""DML-eig, the metric that moves the nearest dissimilar pair apart: an eigenvalue optimization."""
