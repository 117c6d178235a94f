"""Regularizers R(M) of a metric M, with bounds r(G): R(M) - <M, G> >= r(G) for every psd M."""
