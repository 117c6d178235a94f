"""The command line, `cvxml COMMAND ...`: main.py has the parser and most commands, the other modules have the rest."""
