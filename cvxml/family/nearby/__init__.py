"""All metrics with an objective near the optimum, and statements that are proved for all of them."""
