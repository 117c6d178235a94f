"""LFDA, local Fisher discriminant analysis (Sugiyama 2006, 2007)."""
