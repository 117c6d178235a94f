"""A scoreboard of programs that others wrote: `python -m validation.scoreboard`."""
