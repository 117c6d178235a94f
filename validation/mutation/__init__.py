"""Break the code on purpose, and see which tests notice."""
