"""Convex losses phi(v) of squared distances v, with conjugates k(a): phi(v) >= k(a) - a v for dual variables a."""
