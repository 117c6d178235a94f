"""Compare GLML with the signed problem of its papers, made bounded; writes glml_signed.md.

    python -m validation.studies.glml_signed

The papers ask for the metric A with the smallest bias tr A^-1 B, and then minimise its square. Without a bound on A the
signed problem has no minimum where B has a negative eigenvalue (docs/glml.md, "The sign of the bias"). Here the
eigenvalues of M = A^-1 are between 1 / kappa and kappa:
    min_M  tr M B    subject to  det M = 1,  1/kappa <= eigenvalues of M <= kappa.
`signed_weights` solves this problem. The page compares its metric with the GLML metric A, with A + I (the compromise
(10) of 2010 with gamma = 1) and with the Euclidean metric, by the accuracy of the nearest neighbour on the papers'
sets. The sets come from the folder that CVXML_DATA names.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.estimators.local import batches, nearest
from cvxml.methods.glml.instance import fit_gaussians
from cvxml.methods.glml.solver import curvature, weights_of
from validation.experiments.glml_data import panel, prepared, realisation, unscaled
from validation.studies.glml_sign import ALPHA, QUERIES, SETS

REALISATIONS = 10
KAPPAS = (1.2, 2.0, 5.0, 20.0)
HALVINGS = 200
HEAD = """# The signed problem beside GLML

The papers ask for the metric with the smallest bias tr A^-1 B, and minimise its square. The signed problem has no
minimum where B has a negative eigenvalue, which is so at all test points of these sets
([counts](glml_sign.md)). Here it is made bounded: with M = A^-1, the problem is to minimise tr MB with det M = 1 and
the eigenvalues of M between 1/kappa and kappa. The minimum has a closed form, and kappa = 1 is the Euclidean metric.

**Result.** {result}

Accuracy of one nearest neighbour in percent: the mean over {realisations} realisations of at most {queries} test points
each, with one Gaussian a class and alpha = {alpha}. GLML + I is A + gamma I with gamma = 1, for a GLML metric A of
determinant 1. The last two columns give mean differences in points, with their standard errors over the realisations,
between the signed problem with kappa = {fixed:g} and the two forms of GLML. `python -m validation.studies.glml_signed`
writes this page.

| data | training points a class | Euclid | GLML | GLML + I | {kappas} | signed - GLML | signed - (GLML + I) |
|---|---|---|---|---|{rules}---|---|
"""
GLML, COMPROMISE, FIXED = 1, 2, 4  # columns of accuracies; FIXED is the column of kappa = 2
OF_FIXED = KAPPAS[FIXED - 3]


def signed_weights(values: FloatArray, kappa: float) -> FloatArray:
    """Return the eigenvalues of the best M, in the order of the eigenvalues (d,) of B, which are ascending.

    M and B share their eigenvectors (von Neumann's trace inequality). If at most half of the eigenvalues b of B are not
    positive, those get kappa, and b > 0 gets nu / b within the bounds, for the nu that makes the determinant 1.
    Otherwise the sum is concave in the logarithms of the weights that can move: one half gets kappa, and the other half
    1 / kappa; if d is odd, the weight between the two halves is 1.
    """
    d, limit = len(values), float(np.log(kappa))
    if 2 * np.count_nonzero(values <= 0) > d:
        halves = np.sign(d - 1 - 2 * np.arange(d))
        return np.exp(limit * halves)
    logs = np.where(values > 0, np.log(np.where(values > 0, values, 1.0)), -np.inf)
    positive = logs[values > 0]
    low, high = positive.min() - limit, positive.max() + limit  # of log nu
    for _ in range(HALVINGS):
        nu = (low + high) / 2
        if np.clip(nu - logs, -limit, limit).sum() > 0:
            high = nu
        else:
            low = nu
    weights: FloatArray = np.exp(np.clip((low + high) / 2 - logs, -limit, limit))
    return weights


def accuracies(data: str, size: int, split: int) -> list[float]:
    """Return the accuracies of Euclid, GLML, GLML + I and each kappa. size: training points of each class."""
    part = realisation(unscaled(data), split, size, QUERIES)
    X, y = part.training(size)
    X, Q = prepared(data, X, y, part.X_test)
    B = curvature(fit_gaussians(X, y, [str(c) for c in range(len(part.classes))], ALPHA), Q).B
    values, vectors = np.linalg.eigh(B)
    local = weights_of(values)[0]
    weights = [np.ones_like(values), local, local + 1]
    weights += [1 / np.array([signed_weights(each, kappa) for each in values]) for kappa in KAPPAS]
    return [part.accuracy(y[_nearest(X, Q, vectors, of)]) for of in weights]


def _nearest(X: FloatArray, Q: FloatArray, vectors: FloatArray, weights: FloatArray) -> IntArray:
    """Return the index (q,) of the nearest training point; the metrics A have these eigenvectors and weights."""
    found = []
    for rows in batches(len(Q), *X.shape):
        U = vectors[rows]
        A = (U * weights[rows][:, None, :]) @ U.transpose(0, 2, 1)
        found.append(nearest(X, Q[rows], A, 1)[1][:, 0])
    return np.concatenate(found)


def row(data: str, size: int) -> tuple[str, FloatArray]:
    """Return a row of the table, and its accuracies (realisations, 3 + kappas) in percent."""
    found = 100 * np.array([accuracies(data, size, split) for split in range(REALISATIONS)])
    cells = [f"{mean:.1f}" for mean in found.mean(axis=0)]
    cells += [_difference(found[:, FIXED] - found[:, other]) for other in (GLML, COMPROMISE)]
    return f"| {data} | {size} | {' | '.join(cells)} |\n", found


def _difference(points: FloatArray) -> str:
    return f"{points.mean():+.1f} ± {points.std(ddof=1) / len(points) ** 0.5:.1f}"


def result(rows: list[FloatArray]) -> str:
    """Return the sentences that the page begins with. rows: the accuracies of each row."""
    said = []
    for name, column in (("GLML", GLML), ("GLML + I", COMPROMISE)):
        over = [found[:, FIXED] - found[:, column] for found in rows]
        error = [each.std(ddof=1) / len(each) ** 0.5 for each in over]
        better = sum(each.mean() > 2 * e for each, e in zip(over, error, strict=True))
        worse = sum(each.mean() < -2 * e for each, e in zip(over, error, strict=True))
        said.append(
            f"With kappa = {OF_FIXED:g} the signed problem is better than {name} in {better} of {len(rows)} rows and "
            f"worse in {worse}, by more than two standard errors. "
            f"The mean difference is {np.mean(np.concatenate(over)):+.1f} points."
        )
    return "\n".join(said)


def main() -> None:
    """Write the page."""
    rows = [row(data, size) for data in SETS for size in (panel(data).sizes[0], panel(data).sizes[-1])]
    head = HEAD.format(
        result=result([found for _, found in rows]),
        realisations=REALISATIONS,
        queries=QUERIES,
        alpha=ALPHA,
        fixed=OF_FIXED,
        kappas=" | ".join(f"signed, kappa = {kappa:g}" for kappa in KAPPAS),
        rules="---|" * len(KAPPAS),
    )
    Path(__file__).with_suffix(".md").write_text(head + "".join(text for text, _ in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
