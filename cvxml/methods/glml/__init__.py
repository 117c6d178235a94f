"""GLML: a local metric from generative models (Noh, Zhang, Lee 2010, 2018).

problem.py      What is the problem? The literal statement at one query, and its dual, in cvxpy.
definitions.py  What do the papers print? B and the objective by loops; every other file is tested against this one.
instance.py     Which inputs are allowed, and which densities do the classes have? Checked data; Gaussians, mixtures.
solver.py       How is it solved? B at many queries, and the closed form of the metric with its four cases.
certify.py      How is a metric proved optimal for a given B? Bound, gap, radius; imports no other file of this folder.
proved_B.py     How far may B in floats be from the true B, and is it proved definite, indefinite, singular or zero?
exact.py        How is it proved without rounding? B from the data in balls and rationals, and the exact interval.
misreadings.py  Which mistakes are recognised?
method.py       How does the package call all this? The class GLML; cvxml/estimators/glml.py classifies with it.
"""
