"""Noh et al., Fig. 2 of 2010, Fig. 4 of 2018: the local metric keeps p~/p alike for all classes; writes glml_ratio.png.

    python validation/studies/glml_ratio.py

Three Gaussians in five dimensions, of which two tell the classes apart. Left: the classes (one standard deviation) and
the balls of the local metrics at a few points. Right: p~/p, the mean of each density over the sphere of radius d_N
around a point, by the Euclidean and by the local metric: second order (lines), and the mean itself (marks).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from cvxml.methods.glml.instance import Mixtures
from cvxml.methods.glml.solver import closed_form, curvature

D = 5
COLOURS, MARKERS, STYLES = ("#0072b2", "#d55e00", "#009e73"), "os^", ("-", "--", "-.")
CENTRES = np.array([[-1.2, 0.0], [1.2, 0.2], [0.0, 1.6]])
SHAPES = ([[1.0, 0.6], [0.6, 0.8]], [[0.5, -0.3], [-0.3, 1.2]], [[1.4, 0.0], [0.0, 0.3]])
POINTS = np.array([[0.2, 0.5], [-1.5, 1.2], [1.2, 1.2], [-0.6, -1.0], [0.8, -0.8]])


def model() -> Mixtures:
    """The three Gaussians."""
    whitening = []
    for shape in SHAPES:
        Sigma = np.eye(D)
        Sigma[:2, :2] = shape
        whitening.append(np.linalg.inv(np.linalg.cholesky(Sigma)))
    means = np.hstack([CENTRES, np.zeros((3, D - 2))])
    return Mixtures(means, np.array(whitening), np.log(np.full(3, 1 / 3)), np.arange(3), 3)


def ellipse(axes: Any, centre: Any, shape: Any, size: float = 1.0, **style: Any) -> None:
    """The points at `size` from the centre, (x - c)^T shape^-1 (x - c) = size^2."""
    angle = np.linspace(0, 2 * np.pi, 200)
    ring = np.linalg.cholesky(shape) @ np.array([np.cos(angle), np.sin(angle)])
    axes.plot(*(np.asarray(centre)[:, None] + size * ring), **style)


def ratios(p: Mixtures, x: Any, A: Any, distances: Any) -> tuple[Any, Any]:
    """p~/p (distances, C) to second order, and by the mean over the sphere."""
    M = np.linalg.inv(A)
    traces = np.einsum("de,ced->c", M, p.curvatures(x[None])[0])
    second = 1 + distances[:, None] ** 2 / (2 * D) * traces
    directions = np.random.default_rng(0).standard_normal((4000, D))
    directions = np.concatenate([directions, -directions])
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    root = np.linalg.inv(np.linalg.cholesky(A)).T  # x = root z
    here = p.log_densities(x[None])[0]
    mean = [np.exp(p.log_densities(x + d * directions @ root.T) - here).mean(axis=0) for d in distances]
    return second, np.array(mean)


def main() -> None:
    p = model()
    Q = np.hstack([POINTS, np.zeros((len(POINTS), D - 2))])
    local = closed_form(curvature(p, Q).B)
    figure, (left, *right) = plt.subplots(1, 3, figsize=(13, 4.3), constrained_layout=True)
    for c, colour in enumerate(COLOURS):
        ellipse(
            left, CENTRES[c], np.array(SHAPES[c]), color=colour, lw=2, ls=STYLES[c], label=f"class {c + 1}"
        )
    for x, A in zip(POINTS, local.A, strict=True):
        ellipse(left, x, np.linalg.inv(A)[:2, :2], 0.25, color="#444444", lw=1)
        left.plot(*x, ".", color="#444444")
    left.plot(*POINTS[0], "*", color="black", ms=13, label="the point on the right")
    left.set_title("classes, and balls of the local metric (grey)")
    left.set_aspect("equal")
    left.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2)
    d = np.linspace(0, 1.0, 11)
    for axes, A, name in zip(
        right, (np.eye(D), local.A[0]), ("Euclidean metric", "local metric"), strict=True
    ):
        second, mean = ratios(p, Q[0], A, d)
        for c, colour in enumerate(COLOURS):
            axes.plot(d, second[:, c], STYLES[c], color=colour, label=f"class {c + 1}")
            axes.plot(d, mean[:, c], MARKERS[c], color=colour, ms=4)
        axes.set_title(name)
        axes.set_xlabel("distance $d_N$ to the nearest neighbour")
        axes.set_ylabel("density there over density here, p~ / p")
        axes.legend(title="line: 2nd order, marks: mean", fontsize=8)
    low, high = zip(*(axes.get_ylim() for axes in right), strict=True)
    for axes in right:
        axes.set_ylim(min(low), max(high))
        axes.grid(alpha=0.3)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=120)
    print(f"{Path(__file__).with_suffix('.png').name}: {[case.name for case in local.cases]}")


if __name__ == "__main__":
    main()
