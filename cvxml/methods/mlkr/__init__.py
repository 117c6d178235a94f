"""MLKR (Weinberger, Tesauro 2007): `method.METHOD` is the method."""
