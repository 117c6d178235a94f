"""Losses phi(v) with their conjugate bounds."""
