"""Regularizers R(M) with their bounds r(G)."""
