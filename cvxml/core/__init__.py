"""Inputs, results, files and exact numbers, which all other parts of the package use."""
