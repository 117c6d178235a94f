"""Algorithms that know no method: from a `Task`, which has the terms of a problem, to a metric with dual variables."""
