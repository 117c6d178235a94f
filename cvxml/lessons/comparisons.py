# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: ITML (Davis et al. 2007) uses thresholds, LSML (Liu et al. 2012) comparisons; both get the same pairs.

A marimo notebook. The reader changes ITML's thresholds and makes some pairs wrong, and compares the two metrics.
"""

import marimo

app = marimo.App(width="full", app_title="ITML and LSML")

with app.setup:
    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.displays._draw import frame
    from cvxml.displays._geometry import outline
    from cvxml.displays._scatter import scatter
    from cvxml.lessons._page import BENEATH, COLOURS, drawn, page, table


@app.function
def points() -> tuple[FloatArray, IntArray]:
    """Return two classes of twelve points, X (24, 2) and y (24,).

    A slanted direction separates the classes, and the points spread across it.
    """
    rng = np.random.default_rng(2)
    y = np.arange(24) % 2
    Z = rng.standard_normal((24, 2)) * [0.45, 1.3]
    Z[:, 0] += 1.6 * y
    X: FloatArray = 4 * Z @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    return X, y


@app.function
def pairs(y: IntArray, wrong: int) -> tuple[IntArray, IntArray]:
    """Return twenty similar and twenty dissimilar pairs, each (20, 2), from the labels.

    The first `wrong` pairs of both lists are exchanged.
    """
    rng = np.random.default_rng(7)
    every = rng.permutation([(i, j) for j in range(len(y)) for i in range(j)])
    same = y[every[:, 0]] == y[every[:, 1]]
    similar, dissimilar = every[same][:20].copy(), every[~same][:20].copy()
    similar[:wrong], dissimilar[:wrong] = dissimilar[:wrong].copy(), similar[:wrong].copy()
    return similar, dissimilar


@app.function
def distances(X: FloatArray, pairs: IntArray, M: FloatArray) -> FloatArray:
    """Return the squared distances (p,) of the pairs (p, 2) in the metric M."""
    E = X[pairs[:, 0]] - X[pairs[:, 1]]
    D: FloatArray = np.sum((E @ M) * E, axis=1)
    return D


@app.cell
def _():
    wide_slider = mo.ui.slider(
        steps=[0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
        value=1.0,
        label="ITML's u and l, multiplied by",
        show_value=True,
        full_width=True,
    )
    gamma_slider = mo.ui.slider(
        steps=[0.01, 0.1, 1.0, 10.0, 100.0], value=1.0, label="ITML's γ", show_value=True, full_width=True
    )
    wrong_slider = mo.ui.slider(
        steps=[0, 1, 2, 4, 7, 10], value=0, label="wrong pairs, of 20", show_value=True, full_width=True
    )
    return gamma_slider, wide_slider, wrong_slider


@app.cell
def _(gamma_slider, wide_slider, wrong_slider):
    gamma, wide, wrong = gamma_slider.value, wide_slider.value, wrong_slider.value
    return gamma, wide, wrong


@app.cell
def _(gamma, wide, wrong):
    X, y = points()
    similar, dissimilar = pairs(y, wrong)
    bounds = (16.0 * wide, 64.0 * wide)
    told = {"similar": similar.tolist(), "dissimilar": dissimilar.tolist()}
    itml = cvxml.solve("itml", X, None, pairs=told, bounds=bounds, gamma=gamma)
    lsml = cvxml.solve("lsml", X, None, quadruplets=np.hstack([similar, dissimilar]).tolist())
    metrics = {"prior": np.eye(2), "ITML": itml.metric, "LSML": lsml.metric}
    return X, bounds, dissimilar, itml, lsml, metrics, similar, y


@app.cell
def _(X, bounds, dissimilar, metrics, similar, y):
    D = {name: (distances(X, similar, M), distances(X, dissimilar, M)) for name, M in metrics.items()}

    def draw_distances(ax):
        for row, (near, far) in enumerate(D.values()):
            for up, shown, colour, mark, told in (
                (0.14, near, COLOURS[0], "o", "similar pair"),
                (-0.14, far, COLOURS[3], "D", "dissimilar pair"),
            ):
                label = "_" if row else told
                ax.plot(
                    shown,
                    np.full(len(shown), -row + up),
                    mark,
                    color=colour,
                    ms=6,
                    alpha=0.6,
                    mew=0,
                    label=label,
                )
        ax.set_xscale("log")
        ax.axvline(bounds[0], color=COLOURS[0], lw=1.5, ls="--", label=f"ITML's u = {bounds[0]:g}")
        ax.axvline(bounds[1], color=COLOURS[3], lw=1.5, ls=":", label=f"ITML's l = {bounds[1]:g}")
        ax.set_xlim(1e-2, 1e4)
        ax.set_yticks([0, -1, -2], list(D))
        ax.set_ylim(-2.5, 0.5)
        ax.set_xlabel("squared distance")
        ax.set_title("distances of the pairs by each metric", loc="left")
        ax.legend(**BENEATH)

    def draw_balls(ax):
        scatter(X, y, ax=ax, legend=False)
        for shown in ax.collections:
            shown.set_sizes([36])
        middle, lines = X.mean(axis=0), []
        for (name, M), style, colour in zip(
            metrics.items(), ("k:", "-", "--"), (None, COLOURS[2], COLOURS[4]), strict=True
        ):
            lines.append(outline(M, middle, 4.0))
            ax.plot(*lines[-1].T, style, lw=2.5, label=name, **({} if colour is None else {"color": colour}))
        frame(ax, X, lines)
        ax.set_title("balls of radius 4", loc="left")
        ax.legend(**{**BENEATH, "ncols": 3})

    strips = drawn(
        draw_distances, "the squared distances of all pairs, by the prior, ITML and LSML", (5.2, 4.8)
    )
    balls = drawn(draw_balls, "the points, with the ball of radius 4 of each metric", (5.2, 5.2))
    return D, balls, strips


@app.cell
def _(D, bounds, itml, lsml):
    u, l = bounds
    kept = {
        name: [
            f"{np.sum(near <= u)} + {np.sum(far >= l)} of 40",
            f"{np.sum(near < far)} of 20",
            f"{near.mean():.3g} : {far.mean():.3g}",
        ]
        for name, (near, far) in D.items()
    }
    numbers = table(
        ["metric", "within u, beyond l", "comparisons kept", "means: similar : dissimilar"],
        [[name, *cells] for name, cells in kept.items()],
    )
    proved = mo.md(
        f"""
        ITML: objective **{itml.objective:.7f}**, lower bound **{itml.lower_bound:.7f}**. LSML:
        **{lsml.objective:.7f}**, **{lsml.lower_bound:.7f}**.
        """
    )
    return kept, numbers, proved


@app.cell
def _():
    text = mo.md(
        r"""
        # Thresholds or comparisons

        For some pairs of points we are told that they are *similar*, for others that they are *dissimilar*. How can a
        metric be learned from this? Both methods stay as close as possible to a prior metric, here the Euclidean one.
        Both measure closeness by the same divergence,

        $$D_{ld}(M, I) = \mathrm{tr}\, M - \log \det M - d.$$

        It is 0 for $M = I$ and infinite for singular $M$. Let $D_{ij} = (x_i - x_j)^T M (x_i - x_j)$.

        **ITML** (Davis et al. 2007) wants similar pairs within the threshold $u$ and dissimilar pairs beyond $l$. A
        threshold may be moved to $\xi$, at a cost:

        $$\min_{M, \xi}\ D_{ld}(M, I) + \gamma\, D_{ld}(\mathrm{diag}\, \xi, \mathrm{diag}\, \xi_0),$$

        $$D_{ij} \le \xi_{ij} \ \text{(similar)}, \quad D_{ij} \ge \xi_{ij} \ \text{(dissimilar)},$$

        with $\xi_0 = u$ or $l$. **LSML** (Liu et al. 2012) has no thresholds. It compares one pair of each kind: the
        first should be shorter than the second. If it is not, the cost is the squared difference:

        $$\min_M\ D_{ld}(M, I) + \frac1q \sum_q \Big[ \sqrt{D_{ab}} - \sqrt{D_{cd}} \Big]_+^2.$$

        Both methods get the same forty pairs here. LSML compares the first similar pair with the first dissimilar pair,
        the second with the second, and so on.

        **Observe.** ITML's thresholds say how large a distance should be. If you multiply both by a number, ITML's ball
        grows or shrinks. LSML does not use them; it only compares distances. A small ball means large distances.

        **Proved and unproved.** Both optima are proved, by a bound from dual variables. Which method is better is not a
        theorem. It depends on the knowledge behind the pairs.

        ### Try

        1. Multiply the thresholds by 10, then by 0.1. How do the size and the shape of ITML's ball change? Does the
           order of the distances change?
        2. Make some pairs wrong. Which metric changes more? Lower $\gamma$. Which wrong pairs does ITML now tolerate?
        3. Make $\gamma$ large. Does ITML satisfy every threshold? What does it do where it cannot?
        """
    )
    return (text,)


@app.cell
def _(balls, gamma_slider, numbers, proved, strips, text, wide_slider, wrong_slider):
    page(text, [wide_slider, gamma_slider, wrong_slider, proved], [strips, balls], [numbers])
    return


if __name__ == "__main__":
    app.run()
