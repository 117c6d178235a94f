"""The methods as scikit-learn transformers."""
