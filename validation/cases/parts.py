"""Golden cases for the parts that an implementer builds first, each with the answer of the slow twin in the package.

Answers are rounded to ten digits, or are fractions by construction; "tolerance" is relative to the largest number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

import cvxml
from cvxml.core.neighbors import k_nearest_slow
from cvxml.methods.nca import definitions
from cvxml.methods.ssvm import enumeration
from validation.cases.inputs import IRIS, classes, glml, mlsvm, nca, sample, ssvm

Named = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """answer: from the inputs, the arrays that asks.py names; `sets` of it are lists of indices in any order."""

    id: str
    formula: str
    title: str
    inputs: Callable[[], Named]
    answer: Callable[[Named], Named]
    flags: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    tolerance: float = 1e-9


def rounded(values: Any) -> Any:
    """Numbers to ten significant digits, arrays as lists."""
    if isinstance(values, (list, tuple, np.ndarray)):
        return [rounded(v) for v in values]
    return float(f"{float(values):.9e}")


def turned(eigenvalues: list[Fraction], skew: list[list[int]]) -> list[list[float]]:
    """Q diag(eigenvalues) Q^T with the rotation Q = (I - K)(I + K)^-1 of a skew integer K, in rationals."""
    d = len(eigenvalues)
    K = fmpq_mat(d, d, [v for row in skew for v in row])
    identity = fmpq_mat(d, d, [int(i == j) for i in range(d) for j in range(d)])
    D = fmpq_mat(d, d)
    for i, value in enumerate(eigenvalues):
        D[i, i] = fmpq(value.numerator, value.denominator)
    Q = (identity - K) * (identity + K).inv()
    return [[float(Fraction(int(v.p), int(v.q))) for v in row] for row in (Q * D * Q.transpose()).tolist()]


SKEW = [[0, 1, -2, 1], [-1, 0, 1, 3], [2, -1, 0, 1], [-1, -3, -1, 0]]
SPECTRA = {
    "mixed": [3, 1, -2, Fraction(-1, 1000)],
    "repeated": [2, 2, -1, -1],
    "zero": [1, 0, 0, 0],
    "negative": [-1, -2, -3, -4],
}


def projection(name: str) -> Part:
    spectrum = [Fraction(v) for v in SPECTRA[name]]
    return Part(
        f"part-psd-{name}",
        "psd_projection",
        f"the nearest psd matrix in Frobenius norm: {name} eigenvalues",
        lambda: {"matrix": turned(spectrum, SKEW)},
        lambda inputs: {"projection": turned([max(v, Fraction(0)) for v in spectrum], SKEW)},
        tolerance=1e-13,
    )


def neighbors(inputs: Named) -> Named:
    X = np.array(inputs["X"], float)
    everyone = np.arange(len(X), dtype=np.intp)
    return {"neighbors": k_nearest_slow(X, everyone, everyone, inputs["n_neighbors"])[0].tolist()}


def slacks(inputs: Named) -> Named:
    found = evaluated("mlsvm", inputs)
    return {"xi": rounded(found.xi), "objective": rounded(found.objective)}


def subgradient(inputs: Named) -> Named:
    return {"subgradient": rounded(evaluated("mlsvm", inputs).subgradient)}


def step(inputs: Named) -> Named:
    found = evaluated("mlsvm", inputs)
    return {name: rounded(getattr(found, name)) for name in ("A_third", "A_two_thirds", "A_next")}


def evaluated(method: str, inputs: Named) -> Any:
    params = {k: v for k, v in inputs.items() if k not in ("X", "y", "metric", "targets", "impostors")}
    return cvxml.evaluate(method, np.array(inputs["X"], float), inputs["y"], inputs["metric"], **params)


def inference(inputs: Named) -> Named:
    """The least cost of a set in which the class of i wins, and the largest of Delta minus cost over all sets."""
    X, y, W = np.array(inputs["X"], float), np.array(inputs["y"]), np.array(inputs["metric"], float)
    k, Lam = inputs["n_neighbors"], np.array(inputs["loss_matrix"], float)

    def cost(i: int, h: Any) -> float:
        return sum(float((X[i] - X[j]) @ W @ (X[i] - X[j])) for j in h)

    own = [cost(i, h) for i, h in enumerate(enumeration.h_star(X, y, W, k))]
    worst = [
        enumeration.task_loss(enumeration.votes(y, h, len(Lam)), int(y[i]), Lam) - cost(i, h)
        for i, h in enumerate(enumeration.h_hat(X, y, W, k, Lam))
    ]
    return {"own": rounded(own), "worst": rounded(worst)}


def greedy_trap() -> Named:
    """Point 0, k = 5: its class at squared distances 1, 1, 1.1, 1.2, class 1 at .1, .1, .1, class 2 at 1.05, 3 at 1.06.

    The one-pass greedy of the paper's Algorithm 2 finds 4.21 for the best set in which the class wins; 3.30 is right.
    """
    squared = [0, 1, 1, 1.1, 1.2, 0.1, 0.1, 0.1, 1.05, 1.06]
    side = [1, 1, -1, 1, -1, 1, -1, 1, 1, 1]
    y = [0, 0, 0, 0, 0, 1, 1, 1, 2, 3]
    far = [[40.0 + i, 0.0] for i in range(4)] + [
        [50.0 + i, 0.0] for i in range(4)
    ]  # so that the others can win too
    X = [[s * float(np.sqrt(v)), 0.0] for s, v in zip(side, squared, strict=True)]
    inputs = ssvm(X + far, [*y, 2, 2, 2, 2, 3, 3, 3, 3], 1.0, 5)
    del inputs["C"]
    return {**inputs, "metric": [[1.0, 0.0], [0.0, 1.0]]}


def gradients(inputs: Named) -> Named:
    X, y, A = np.array(inputs["X"], float), np.array(inputs["y"]), np.array(inputs["components"], float)
    s = (y[:, None] == y).astype(float)
    np.fill_diagonal(s, 0.0)
    return {
        "f": rounded(definitions.f(X, s, A.T @ A)),
        "g": rounded(definitions.g(X, s, A.T @ A)),
        "gradient_f": rounded(definitions.gradient_f(X, s, A)),
        "gradient_g": rounded(definitions.gradient_g(X, s, A)),
    }


def nca_at(A: list[list[float]]) -> Named:
    inputs = nca(*classes(41, 12, 2, 3, 1.0), "f")
    return {"X": inputs["X"], "y": inputs["y"], "components": A}


def direction(inputs: Named) -> Named:
    found = cvxml.evaluate(
        "glml",
        inputs["X"],
        inputs["y"],
        np.eye(len(inputs["X"][0])),
        **{k: v for k, v in inputs.items() if k not in ("X", "y")},
    )
    return {"B": rounded(found.B)}


def at(inputs: Named, metric: Any, **more: Any) -> Named:
    return {**inputs, "metric": metric, **more}


OVERLAP = classes(42, 14, 2, 2, 2.0)
PARTS = (
    *(projection(name) for name in SPECTRA),
    Part(
        "part-neighbors",
        "neighbors",
        "the four nearest by Euclid, never the point itself; of equal distances the lower index",
        lambda: {"X": sample(IRIS, 3, None)[0], "n_neighbors": 4},
        neighbors,
        ("ties",),
        ("neighbors",),
    ),
    Part(
        "part-mlsvm-slacks",
        "mlsvm_slacks",
        "xi of every point and the objective at a metric",
        lambda: at(mlsvm(*OVERLAP, 0.1, n_neighbors=5), [[0.5, 0.1], [0.1, 0.2]]),
        slacks,
    ),
    Part(
        "part-mlsvm-subgradient",
        "mlsvm_subgradient",
        "lam A - 1/n sum over the violated of (X_minus - X_plus)",
        lambda: at(mlsvm(*OVERLAP, 0.1, n_neighbors=5), [[0.5, 0.1], [0.1, 0.2]]),
        subgradient,
    ),
    Part(
        "part-algorithm1-step",
        "mlsvm_algorithm1_step",
        "one step at t = 3: x+ the furthest target, eta = 1/(lam (t+1)), the cone, then the ball",
        lambda: at(mlsvm(*OVERLAP, 0.1, n_neighbors=5), [[0.5, 0.1], [0.1, 0.2]], t=3),
        step,
    ),
    Part(
        "part-inference",
        "ssvm_inference",
        "four classes, costs that differ: the cheapest winning set and the worst set of every point",
        lambda: {
            k: v
            for k, v in at(
                ssvm(
                    *classes(43, 16, 2, 4, 0.5),
                    1.0,
                    3,
                    [[0, 1, 2, 1], [1, 0, 1, 3], [2, 2, 0, 1], [1, 1, 1, 0]],
                ),
                [[1.0, 0.2], [0.2, 0.6]],
            ).items()
            if k != "C"
        },
        inference,
        ("ties",),
    ),
    Part(
        "part-inference-greedy",
        "ssvm_inference",
        "where one-pass greedy is wrong",
        greedy_trap,
        inference,
    ),
    Part(
        "part-nca-gradient",
        "nca_gradient",
        "f, g and their gradients at a square A that is not symmetric",
        lambda: nca_at([[0.8, 0.3], [-0.2, 1.1]]),
        gradients,
    ),
    Part(
        "part-nca-gradient-rank1",
        "nca_gradient",
        "the same at one row",
        lambda: nca_at([[0.8, -0.3]]),
        gradients,
    ),
    Part(
        "part-glml-B",
        "glml_B",
        "B / ||B|| at a query, three Gaussian classes, covariances by 1/n",
        lambda: glml(*classes(44, 30, 3, 3, 1.0), [0.4, -0.3, 0.2]),
        direction,
    ),
)
assert len({part.id for part in PARTS}) == len(PARTS)
