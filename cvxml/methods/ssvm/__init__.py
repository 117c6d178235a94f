"""Neighbourhood gerrymandering (Trivedi et al. 2014): a metric as a latent structural SVM.

problem.py is the literal statement of a CCCP step and its dual; enumeration.py the definitions, by loops over sets;
study/integer.py the two inferences as integer programs. These three share nothing with a solver.
"""
