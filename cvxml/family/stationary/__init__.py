"""How far a metric is from a stationary point, for problems that are not convex."""
