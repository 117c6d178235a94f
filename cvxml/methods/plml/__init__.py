"""PLML (Wang, Woznica, Kalousis 2012): a metric at each point, mixed from a few basis metrics.

Two problems are solved one after the other: weights.py has the weights of the basis metrics at each point, and
method.py the basis metrics for given weights. The file problem.py states both, and instance.py checks the inputs.
"""
