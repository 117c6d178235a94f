# needs: metric-learn==0.7.0 scikit-learn<1.8
"""RCA.fit returns NaN if the covariance within chunklets is singular, and raises nothing."""

import warnings

import numpy as np
from metric_learn import RCA
from sklearn.datasets import load_wine

warnings.simplefilter("ignore")
X = load_wine().data
X = (X - X.mean(axis=0)) / X.std(axis=0)
chunks = np.full(len(X), -1)
chunks[:10] = np.arange(10) // 5
model = RCA().fit(X, chunks)
print("finite:", np.isfinite(model.components_).all())
assert not np.isfinite(model.components_).all(), "mended"
