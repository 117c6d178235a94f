"""The lesson glml, without a browser, against computations of its own."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.methods.glml import definitions
from tests.lessons.run import figures_of, lesson, run


def own_B(scene: str, x: np.ndarray) -> np.ndarray:
    """(14) as printed, over its norm, from the means and covariances that the scene is made of."""
    classes = [(np.array(mu), np.array(Sigma)) for mu, Sigma in lesson("glml").SCENES[scene]]
    p = np.array([definitions.gaussian_density(x, *c) / len(classes) for c in classes])
    H = np.array([definitions.gaussian_hessian(x, *c) / len(classes) for c in classes])
    B = definitions.B_printed(p, H)
    return B / np.linalg.norm(B)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scene", "query", "case"),
    [
        ("two classes that differ", (0.5, 0.4), "indefinite"),
        ("two classes that differ", (-2.0, 2.0), "indefinite"),
        ("one within the other", (0.0, 0.0), "definite"),
        ("one within the other", (2.0, -2.0), "indefinite"),
        ("three classes", (2.0, 2.0), "indefinite"),
    ],
)
def test_the_local_metric_is_the_one_its_case_asks_for(
    scene: str, query: tuple[float, float], case: str
) -> None:
    shown = run("glml", scene=scene, query=query)
    B, solution = own_B(scene, np.array(query)), shown["solution"]
    values = np.linalg.eigvalsh(B)
    assert (case == "definite") == (values[0] * values[1] > 0)
    assert shown["at"]["case"].startswith(case)
    least = (2 * abs(np.linalg.det(B)) ** 0.5) ** 2 if case == "definite" else 0.0
    assert np.linalg.det(solution.metric) == pytest.approx(1)
    assert np.trace(np.linalg.inv(solution.metric) @ B) ** 2 == pytest.approx(least, abs=1e-12)
    assert solution.lower_bound == pytest.approx(least, abs=1e-12)
    assert np.trace(B) ** 2 >= least * (1 - 1e-9)  # the Euclidean metric
    if case == "indefinite" and len(shown["local_traces"]) == 2:
        assert shown["local_traces"][0] == pytest.approx(shown["local_traces"][1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "case", "status"), [((0.3, 0.0), "singular", "NOT_ATTAINED"), ((0.0, 0.0), "zero", "CONVERGED")]
)
def test_equal_covariances_are_flat_in_the_middle_and_singular_on_the_line(
    query: tuple[float, float], case: str, status: str
) -> None:
    shown = run("glml", scene="equal covariances", query=query)
    assert shown["at"]["case"].startswith(case)
    assert shown["solution"].status.name == status


@pytest.mark.slow
def test_the_densities_at_a_distance_are_what_is_drawn() -> None:
    scene, x = "two classes that differ", np.array([0.5, 0.4])
    shown = run("glml", scene=scene, query=tuple(x))
    for name, A in (("Euclidean metric", np.eye(2)), ("local metric", shown["solution"].metric)):
        second, mean = shown["ratios"][name]
        assert second[0] == pytest.approx(1)
        for c, (mu, Sigma) in enumerate(lesson("glml").SCENES[scene]):
            assert mean[5, c] == pytest.approx(around(x, A, 0.5, np.array(mu), np.array(Sigma)), rel=1e-6)
            near = around(x, A, 0.02, np.array(mu), np.array(Sigma))
            assert (second[1, c] - 1) / 0.1**2 == pytest.approx((near - 1) / 0.02**2, abs=2e-2)


@pytest.mark.slow
def test_each_panel_shows_the_metric_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = figures_of(monkeypatch)
    shown = run("glml", scene="two classes that differ", query=(0.5, 0.4))
    for figure, name, traces in zip(
        seen[1:],
        ("Euclidean metric", "local metric"),
        (shown["euclid_traces"], shown["local_traces"]),
        strict=True,
    ):
        ax = figure.axes[0]
        assert ax.get_title(loc="left") == name
        lines = [line for line in ax.lines if line.get_label().startswith("class")]
        assert [line.get_ydata()[-1] for line in lines] == pytest.approx(
            [1 + t / 4 for t in traces]
        )  # d_N = 1


def around(x: np.ndarray, A: np.ndarray, d: float, mu: np.ndarray, Sigma: np.ndarray) -> float:
    """The mean density on the circle of radius d by A, over that at x."""
    root = np.linalg.inv(np.linalg.cholesky(A)).T  # root z has length |z| by A
    circle = [d * np.array([np.cos(t), np.sin(t)]) for t in 2 * np.pi * np.arange(1000) / 1000]
    mean = np.mean([definitions.gaussian_density(x + root @ z, mu, Sigma) for z in circle])
    return float(mean) / definitions.gaussian_density(x, mu, Sigma)
