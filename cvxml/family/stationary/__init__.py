"""How far a metric is from a stationary point, for nonconvex problems."""
