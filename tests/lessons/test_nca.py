"""The lesson nca, without a browser, against computations of its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.lessons.run import lesson, run


def own_f_and_g(X: np.ndarray, y: np.ndarray, Q: np.ndarray) -> tuple[float, float]:
    D = np.einsum("ijd,de,ije->ij", X[:, None] - X, Q, X[:, None] - X)
    np.fill_diagonal(D, np.inf)
    own = np.where(y[:, None] == y, D, np.inf)
    log_p_i = np.logaddexp.reduce(-own, axis=1) - np.logaddexp.reduce(-D, axis=1)
    return float(np.exp(log_p_i).sum()), float(log_p_i.sum())


@pytest.mark.slow
@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize(("log2_t", "angle", "mix"), [(0.0, 0, 0.5), (2.0, 40, 0.0), (-4.0, 90, 1.0)])
def test_f_and_g_are_those_of_the_definition(kind: int, log2_t: float, angle: int, mix: float) -> None:
    shown = run("nca", kind=lesson("nca").KINDS[kind], log2_t=log2_t, angle=angle, mix=mix)
    f, g = own_f_and_g(shown["X"], shown["y"], shown["Q"])
    assert np.trace(shown["Q"]) == pytest.approx(2 * 4.0**log2_t)
    assert shown["values"]["f"] == pytest.approx(f)
    assert shown["values"]["g"] == pytest.approx(g)
    here = int(np.argmin(np.abs(lesson("nca").SCALES - 2.0**log2_t)))
    assert shown["along_scale"][here] == pytest.approx([f, g])
    assert 1 <= shown["neighbors"] <= len(shown["X"])


@pytest.mark.slow
def test_pairs_are_convex_and_overlapping_classes_are_not() -> None:
    module = lesson("nca")
    for angle, log2_t in itertools.product((0, 35, 90), (-2.0, 1.0, 6.0)):
        X, y = module.points(module.KINDS[2])
        ends = [
            own_f_and_g(X, y, module.between(2.0**log2_t, angle, mix))[1] for mix in (0, 0.25, 0.5, 0.75, 1)
        ]
        middle = [-g for g in ends[1:4]]
        chord = [
            -(0.75 * ends[0] + 0.25 * ends[4]),
            -(ends[0] + ends[4]) / 2,
            -(0.25 * ends[0] + 0.75 * ends[4]),
        ]
        assert np.all(np.array(middle) <= np.array(chord) + 1e-9)
    assert run("nca", kind=module.KINDS[2], log2_t=1.0, angle=35, mix=1.0)["above_chord"] <= 1e-9
    assert run("nca", kind=module.KINDS[0], log2_t=6.0, angle=15, mix=0.5)["above_chord"] > 1


@pytest.mark.slow
def test_what_is_proved_of_each_kind_of_data() -> None:
    kinds = lesson("nca").KINDS
    names = {
        kind: {
            c: end.status.name
            for c, end in run("nca", kind=kind, log2_t=0.0, angle=0, mix=0.5)["solved"].items()
        }
        for kind in kinds
    }
    assert names[kinds[0]] == {"f": "STATIONARY", "g": "STATIONARY"}
    assert names[kinds[1]] == {"f": "NOT_ATTAINED", "g": "NOT_ATTAINED"}
    assert names[kinds[2]]["g"] == "CONVERGED"
    X, y = lesson("nca").points(kinds[1])
    f, g = own_f_and_g(X, y, 1e4 * np.diag([1.0, 0.0]))
    assert f == pytest.approx(len(X), abs=1e-9)
    assert g == pytest.approx(0, abs=1e-9)
