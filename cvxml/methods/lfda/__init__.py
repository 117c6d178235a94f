"""LFDA (Sugiyama 2006, 2007): `method.METHOD` is the method."""
