"""Regularizers R(M) with their conjugate bounds r(G)."""
