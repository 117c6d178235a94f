"""MLKR, metric learning for kernel regression (Weinberger, Tesauro 2007).

method.py states the problem, and has the method, `METHOD`.
"""
