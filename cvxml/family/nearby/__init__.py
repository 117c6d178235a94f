"""All metrics with an objective near the optimum."""
