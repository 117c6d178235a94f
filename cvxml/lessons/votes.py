# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: the meaning of a gap: a map of the votes that a metric with this gap proves for the exact optimum.

A marimo notebook. A vote is the class that the nearest neighbours of a query choose. The reader moves a metric away
from the optimum. The map shows for which queries the certificate of this metric proves the vote of the exact optimum.
"""

import marimo

app = marimo.App(width="full", app_title="The meaning of a gap")

with app.setup:
    from typing import Any

    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.displays._scatter import scatter
    from cvxml.lessons._page import BENEATH, COLOURS, drawn, page, table

    STATES = {"certain": 0.75, "disputed": 0.0, "not proved": 0.25}  # opacity of the colour
    SIDE = 15  # queries along each side of the map
    AWAY = [0.0, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0]


@app.function
def points() -> tuple[FloatArray, IntArray]:
    """Return three overlapping classes of eight points, X (24, 2) and y (24,), that a slanted direction separates."""
    rng = np.random.default_rng(6)
    y = np.arange(24) % 3
    Z = rng.standard_normal((24, 2)) * [0.35, 1.1]
    Z[:, 0] += 1.0 * y
    X: FloatArray = Z @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    return X, y


@app.function
def queries(X: FloatArray) -> tuple[FloatArray, list[float]]:
    """Return a square grid of queries (SIDE^2, 2) around the points, row by row from below, and its extent.

    The extent is [left, right, bottom, top], including the outer half cells.
    """
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
        steps=AWAY, value=0.02, label="metric: 0 optimal, 1 Euclidean", show_value=True, full_width=True
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
        "the votes in the plane, in a strong colour if they hold for every metric within the gap",
        (5.2, 5.9),
    )
    return state, where


@app.cell
def _(found, report, state):
    numbers = table(
        ["votes", "queries", "meaning"],
        [
            ["certain", int(np.sum(state == "certain")), "the exact optimum gives this vote"],
            [
                "disputed",
                int(np.sum(state == "disputed")),
                "a metric that is no worse than this one gives another vote",
            ],
            ["not proved", int(np.sum(state == "not proved")), "neither is proved"],
        ],
    )
    said = mo.md(f"*{found}*. The optimum is within {report.radius:.3g} of the metric, in Frobenius norm.")
    return numbers, said


@app.cell
def _():
    text = mo.md(
        r"""
        # The meaning of a gap

        A metric is learned for its neighbours. The exact optimum $M^*$ is unknown: a program stops at a metric $M$, and
        a certificate shows that its objective is within a gap of the optimum. Does $M$ give the same *votes* as $M^*$?

        **All metrics within the gap.** $M^*$ is one of the metrics with an objective at most that of $M$. If all these
        metrics give the same vote, it is the vote of $M^*$, although $M^*$ is unknown. A query $q$ is nearer to point
        $a$ than to point $b$ if

        $$\langle A, D \rangle > 0,$$

        $$D = (q - b)(q - b)^T - (q - a)(q - a)^T,$$

        which is a *linear* inequality in the metric $A$. So the question for each pair is if a linear function has only
        one sign on a convex set.

        **Two proofs of a sign.** Both methods here are strongly convex, so $\|M^* - M\|$ is at most a radius, which
        follows from the gap. Then $\langle M^*, D \rangle$ differs from $\langle M, D \rangle$ by at most the radius
        times $\|D\|$. For FrobMetric there is a sharper proof. Add $s \langle A, D \rangle$ to the objective. The
        *same* certificate, with any dual variables, bounds this tilted problem.

        **The map.** In a strong colour, the vote is certainly that of $M^*$. In a pale colour, the vote is not proved.
        A cross marks a disputed vote: two metrics within the gap are known that vote differently, so the gap is too
        large to decide.

        **Proved.** The strong colours and the crosses are proved. For a pale query, a better bound or another metric
        may decide.

        ### Try

        1. Move the metric away from the optimum. Where do votes first become uncertain? Look at the points there.
        2. The verdict stops being *certified* very close to the optimum. How many votes are uncertain by then? Which
           votes can you still trust if the metric is refuted?
        3. Let one neighbour vote, then five. Does a vote of more neighbours become more certain, or less? Why are both
           possible?
        """
    )
    return (text,)


@app.cell
def _(away_slider, k_slider, method_menu, numbers, said, text, where):
    page(text, [method_menu, away_slider, k_slider], [where], [numbers, said])
    return


if __name__ == "__main__":
    app.run()
