"""All metrics whose objective is near the optimum."""
