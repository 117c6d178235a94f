"""The convex methods' common ground: coordinates, spans, proved bounds, solvers."""
