"""Numbers with proved error bounds: sums and distances of floats, enclosures, rational matrices, exact ranks."""
