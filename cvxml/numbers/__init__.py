"""Numbers with a proved error: floats with the rounding of distances, rational matrices, and exact ranks."""
