"""LFDA, local Fisher discriminant analysis (Sugiyama 2006, 2007): method.py states the problem, and has the method."""
