"""How often B of GLML is positive definite, negative definite or indefinite; writes glml_sign.md.

    python -m validation.studies.glml_sign

One Gaussian a class is fitted to the training points of a realisation, as in the papers (Noh et al. 2010, 2018), and B
is computed at the test points. Where B is negative definite the GLML metric has the largest bias of all metrics of
determinant 1, and where it is indefinite other metrics have a negative bias: docs/glml.md, "The sign of the bias".
Sets come from the folder that CVXML_DATA names.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from cvxml.methods.glml.instance import fit_gaussians
from cvxml.methods.glml.solver import curvature
from validation.experiments.glml_data import Z_SCORED, panel, prepared, realisation

REALISATIONS = 5
QUERIES = 400
ALPHA = 0.1  # on the diagonal of each covariance, so that small samples have an inverse
SETS = (
    "ionosphere" + Z_SCORED,
    "german_ida",
    "image_ida",
    "waveform" + Z_SCORED,
    "twonorm",
    "wine" + Z_SCORED,
    "usps 8x8" + Z_SCORED,
)
HEAD = """# The sign of B in GLML

The papers minimise the square of the signed bias (9). That gives the least error where B is positive definite. Where B
is negative definite it gives the largest error, to leading order. Where B is indefinite it gives no bias, and other
metrics have a negative one. [Why](../../docs/glml.md#the-sign-of-the-bias).

Shares of test points, over {realisations} realisations of at most {queries} test points each, with one Gaussian a class
and alpha = {alpha}. `python -m validation.studies.glml_sign` writes this page.

| data | features | classes | training points a class | positive definite | negative definite | indefinite |
|---|---|---|---|---|---|---|
"""


def sign(B: np.ndarray, noise: float) -> str:
    """What B (d, d) is: positive, negative or indefinite; unknown where rounding decides."""
    values = np.linalg.eigvalsh(B)
    if values[0] > noise:
        return "positive"
    if values[-1] < -noise:
        return "negative"
    return "indefinite" if values[0] < -noise and values[-1] > noise else "unknown"


def signs(data: str, size: int) -> Counter[str]:
    """Counts over test points of all realisations. size: training points of each class."""
    found: Counter[str] = Counter()
    for split in range(REALISATIONS):
        part = realisation(data.removesuffix(Z_SCORED), split, size, QUERIES)
        X, y = part.training(size)
        X, Q = prepared(data, X, y, part.X_test)
        at = curvature(fit_gaussians(X, y, [str(c) for c in range(len(part.classes))], ALPHA), Q)
        found.update(sign(B, float(noise)) for B, noise in zip(at.B, at.noise, strict=True))
    return found


def line(data: str, size: int) -> str:
    """A row of the table."""
    found, of = signs(data, size), panel(data)
    shares = [f"{found[name] / found.total():.1%}" for name in ("positive", "negative", "indefinite")]
    features = realisation(data.removesuffix(Z_SCORED), 0, size).X_test.shape[1]
    return f"| {data} | {features} | {of.classes} | {size} | {' | '.join(shares)} |\n"


def main() -> None:
    """Write the page."""
    rows = [line(data, size) for data in SETS for size in (panel(data).sizes[0], panel(data).sizes[-1])]
    head = HEAD.format(realisations=REALISATIONS, queries=QUERIES, alpha=ALPHA)
    Path(__file__).with_suffix(".md").write_text(head + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
