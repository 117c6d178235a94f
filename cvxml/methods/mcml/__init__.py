"""Metric learning by collapsing classes (Globerson and Roweis 2005)."""
