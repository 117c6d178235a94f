"""Neighbourhood components analysis (paper 004): definitions, literal step, fast solver, certificates."""
