"""Speed and size of GLML's classifier on USPS at 8 x 8; writes benchmark_glml.md.

    python validation/benchmark_glml.py

7291 training points, 2007 queries, d = 64, ten classes, alpha = 0.1, gamma = 1; USPS from the folder in CVXML_DATA,
block means of 2 x 2 pixels. One process, one BLAS thread. The share of LAPACK and BLAS: the eigendecompositions and
matrix products of one batch, done alone on the same arrays, against the batch as a whole.
"""

from __future__ import annotations

import resource
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import cvxml
from cvxml import datasets
from cvxml.firstorder import one_blas_thread
from cvxml.methods.glml.classify import batches
from cvxml.methods.glml.curvature import curvature, pair_weights

REPORT = Path(__file__).with_suffix(".md")


def seconds(run: Callable[[], Any], times: int = 5) -> float:
    """The best of some runs."""
    return min(timeit.repeat(run, number=1, repeat=times))


def share(model: Any, X: Any, Q: Any) -> tuple[float, float]:
    """Seconds of a batch, and of its eigendecompositions and products alone."""
    parts = model.model_
    B = curvature(parts, Q).B
    A = model.metric_at(Q)
    q, d = Q.shape
    S, weights = parts.precisions, pair_weights(parts.log_densities(Q))[0]
    flat = A.transpose(1, 0, 2).reshape(d, q * d)
    pulls = np.stack([(Q - mu) @ S_k for mu, S_k in zip(parts.means, S, strict=True)], axis=1)

    def alone() -> None:
        np.linalg.eigh(B)
        A @ A  # U diag U^T
        X @ flat
        (A @ Q[:, :, None])[:, :, 0] @ X.T
        for mu, S_k, T in zip(parts.means, S, parts.whitening, strict=True):
            (Q - mu) @ S_k
            (Q - mu) @ T.T
        pulls.transpose(0, 2, 1) @ (weights[:, :, None] * pulls)
        weights @ S.reshape(len(S), -1)

    with one_blas_thread():
        return seconds(lambda: model.kneighbors(Q)), seconds(alone)


def main() -> None:
    X, y = datasets.load("usps")
    X = X.reshape(-1, 8, 2, 8, 2).mean(axis=(2, 4)).reshape(-1, 64)
    train, test = slice(0, 7291), slice(7291, None)
    model = cvxml.GLML(gamma=1.0, alpha=0.1)
    fit = seconds(lambda: model.fit(X[train], y[train]), 3)
    started = time.perf_counter()
    accuracy = model.score(X[test], y[test])
    whole = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    first = next(batches(2007, 7291, 64))
    batch, alone = share(model, X[train], X[test][first])
    growth = []
    for n in (1000, 2000, 4000, 7291):
        part = cvxml.GLML(gamma=1.0, alpha=0.1).fit(X[:n], y[:n])
        growth.append(f"{n}: {seconds(lambda p=part: p.kneighbors(X[test][:500]), 2):.2f} s")
    wide = cvxml.GLML(gamma=100.0, alpha=0.1).fit(X[train], y[train]).score(X[test], y[test])
    euclid = KNeighborsClassifier(1).fit(X[train], y[train]).score(X[test], y[test])
    text = [
        "# GLML: speed",
        "",
        "`python validation/benchmark_glml.py`, one process and one BLAS thread.",
        "",
        f"- USPS at 8 x 8 (7291 training points, 2007 queries, d = 64): fitted in {fit:.3f} s, "
        f"classified in {whole:.1f} s, peak memory {peak:.2f} GiB.",
        f"- A batch of {first.stop} queries: {batch:.3f} s, of which LAPACK and BLAS alone take {alone:.3f} s "
        f"({100 * alone / batch:.0f} %).",
        f"- 500 queries by number of training points: {', '.join(growth)}.",
        f"- Accuracy at these gamma and alpha {100 * accuracy:.1f} %, at gamma = 100 {100 * wide:.1f} %, "
        f"of the Euclidean metric {100 * euclid:.1f} %.",
        "",
    ]
    REPORT.write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
