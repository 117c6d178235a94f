"""Solvers that know no method: each turns a `Task` with the terms of a problem into a metric and dual variables."""
