"""The methods as scikit-learn transformers and classifiers.

`made.py` makes the estimators of most methods from a description. The others have a file each.
"""
