"""PLML: a metric that varies smoothly, mixed from a few basis metrics."""
