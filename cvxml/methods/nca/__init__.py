"""Neighbourhood components analysis (Goldberger et al. 2004): definitions, literal step, fast solver, certificates."""
