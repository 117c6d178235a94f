"""Convex losses phi(v) with their conjugate bounds k(a)."""
