"""PLML (Wang, Woznica, Kalousis 2012): a metric at each point, mixed from a few basis metrics."""
