# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: a map of votes that hold for the exact optimum, as the gap of a metric is changed."""

import marimo

app = marimo.App(width="full", app_title="What a gap is worth")

with app.setup:
    from typing import Any

    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.displays._scatter import scatter
    from cvxml.lessons._page import BENEATH, COLOURS, drawn, page, table

    STATES = {"certain": 0.75, "disputed": 0.0, "not proved": 0.25}  # how strong a colour is
    SIDE = 15  # queries along each side of the map
    AWAY = [0.0, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0]


@app.function
def points() -> tuple[FloatArray, IntArray]:
    """Three classes of eight points that overlap; what tells them apart is slanted."""
    rng = np.random.default_rng(6)
    y = np.arange(24) % 3
    Z = rng.standard_normal((24, 2)) * [0.35, 1.1]
    Z[:, 0] += 1.0 * y
    X: FloatArray = Z @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    return X, y


@app.function
def queries(X: FloatArray) -> tuple[FloatArray, list[float]]:
    """A square grid over the points (SIDE^2, 2), row by row from below; and left, right, bottom, top of its cells."""
    middle, half = (X.min(axis=0) + X.max(axis=0)) / 2, 0.55 * float(np.ptp(X, axis=0).max())
    ticks = half * (2 * (np.arange(SIDE) + 0.5) / SIDE - 1)
    extent = [middle[0] - half, middle[0] + half, middle[1] - half, middle[1] + half]
    return middle + np.array([(a, b) for b in ticks for a in ticks]), extent


@app.cell
def _():
    method_menu = mo.ui.dropdown(
        {"FrobMetric": "frobmetric", "MLSVM": "mlsvm"}, value="FrobMetric", label="method", full_width=True
    )
    away_slider = mo.ui.slider(
        steps=AWAY, value=0.02, label="metric: 0 the best, 1 Euclidean", show_value=True, full_width=True
    )
    k_slider = mo.ui.slider(
        steps=[1, 3, 5], value=3, label="neighbours that vote", show_value=True, full_width=True
    )
    return away_slider, k_slider, method_menu


@app.cell
def _(away_slider, k_slider, method_menu):
    method, away, k = method_menu.value, away_slider.value, k_slider.value
    return away, k, method


@app.cell
def _(method):
    X, y = points()
    grid, extent = queries(X)
    params: dict[str, Any] = {"frobmetric": {"C": 10.0}, "mlsvm": {"lam": 0.01}}[method]
    optimum = cvxml.solve(method, X, y, tol=1e-10, **params).metric
    return X, extent, grid, optimum, params, y


@app.cell
def _(X, away, k, grid, method, optimum, params, y):
    plain = np.eye(2) * np.trace(optimum) / 2
    metric = (1 - away) * optimum + away * plain
    report = cvxml.check(method, X, y, metric, diagnosed=False, **params)
    found = report.predictions(k, grid)
    return found, metric, report


@app.cell
def _(X, extent, found, report, y):
    state = np.array(found.state)

    def draw_map(ax):
        colours = np.array([[int(c[at : at + 2], 16) / 255 for at in (1, 3, 5)] for c in COLOURS[:3]])
        strength = np.array([STATES[each] for each in found.state])
        picture = np.dstack([colours[found.votes].reshape(SIDE, SIDE, 3), strength.reshape(SIDE, SIDE)])
        ax.imshow(picture, origin="lower", extent=extent, interpolation="nearest")
        disputed = state == "disputed"
        ax.plot(*queries(X)[0][disputed].T, "x", color="black", ms=5, mew=1.2, label="disputed")
        scatter(X, y, ax=ax, legend=False)
        for shown, each in zip(ax.collections, np.unique(y), strict=True):
            shown.set(edgecolor="white", linewidth=0.8, sizes=[45], label=f"class {each}", alpha=1)
        ax.set_aspect("equal", adjustable="box")
        ax.set_xlim(extent[:2])
        ax.set_ylim(extent[2:])
        ax.set_title(f"gap {report.rel_gap:.2g} of the scale: {report.verdict.value}", loc="left")
        ax.legend(**BENEATH)

    where = drawn(
        draw_map,
        "the plane by votes: strong colour where they hold for every metric within the gap",
        (5.2, 5.9),
    )
    return state, where


@app.cell
def _(found, report, state):
    numbers = table(
        ["votes", "queries", "what is known"],
        [
            ["certain", int(np.sum(state == "certain")), "the exact optimum has this vote, whatever it is"],
            [
                "disputed",
                int(np.sum(state == "disputed")),
                "another metric, no worse than this one, votes otherwise",
            ],
            ["not proved", int(np.sum(state == "not proved")), "neither was shown"],
        ],
    )
    said = mo.md(f"*{found}*. The optimum is within {report.radius:.3g} of the metric, in Frobenius norm.")
    return numbers, said


@app.cell
def _():
    text = mo.md(
        r"""
        # What a gap is worth

        A metric is learnt for its neighbours. Nobody has the exact optimum $M^*$: a program stops at a metric $M$, and
        a certificate says that no metric is better by more than a gap. Are its *votes* those of $M^*$?

        **All metrics within the gap.** $M^*$ is somewhere among the metrics that are no worse than $M$. If a vote is
        the same for all of them, it is the vote of $M^*$, and nobody need know $M^*$ to say so. A query $q$ has point
        $a$ nearer than point $b$ where

        $$\langle A, D \rangle > 0,$$

        $$D = (q - b)(q - b)^T - (q - a)(q - a)^T,$$

        a *linear* inequality in the metric $A$. So the question for each pair is whether a linear function has one sign
        on a convex set.

        **Two proofs of a sign.** Both methods here are strongly convex: $\|M^* - M\|$ is at most a radius, which
        follows from the gap, and $\langle M^*, D \rangle$ differs from $\langle M, D \rangle$ by at most radius times
        $\|D\|$. For FrobMetric there is a sharper one: tilt the objective by $s \langle A, D \rangle$, and the *same*
        certificate, from any prices, bounds the tilted problem.

        **The map.** A strong colour: the vote is that of $M^*$, for certain. A faint one: nothing is proved. A cross:
        two metrics within the gap are at hand that vote differently, so that the gap leaves it open.

        **What is proved.** The colours that are strong, and the crosses. Of what is faint a better bound, or another
        metric, might decide.

        ### Try

        1. Move the metric away from the best. Where does certainty go first, and what is there on the map?
        2. The verdict is no longer *certified* next to the best metric already. How many votes are lost by then? Which
           would you still trust in a metric that is refuted?
        3. Let one neighbour vote, then five. Does a vote of more neighbours become more certain, or less? Why can it be
           either?
        """
    )
    return (text,)


@app.cell
def _(away_slider, k_slider, method_menu, numbers, said, text, where):
    page(text, [method_menu, away_slider, k_slider], [where], [numbers, said])
    return


if __name__ == "__main__":
    app.run()
