# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: thresholds or comparisons: ITML (Davis et al. 2007) against LSML (Liu et al. 2012) on the same pairs."""

import marimo

app = marimo.App(width="full", app_title="ITML against LSML")

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
    """Two classes, twelve points each, apart along a slanted direction and spread across it."""
    rng = np.random.default_rng(2)
    y = np.arange(24) % 2
    Z = rng.standard_normal((24, 2)) * [0.45, 1.3]
    Z[:, 0] += 1.6 * y
    X: FloatArray = 4 * Z @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    return X, y


@app.function
def pairs(y: IntArray, wrong: int) -> tuple[IntArray, IntArray]:
    """Twenty similar and twenty dissimilar pairs (20, 2), as the labels say; of the first few the two are swapped."""
    rng = np.random.default_rng(7)
    every = rng.permutation([(i, j) for j in range(len(y)) for i in range(j)])
    same = y[every[:, 0]] == y[every[:, 1]]
    similar, dissimilar = every[same][:20].copy(), every[~same][:20].copy()
    similar[:wrong], dissimilar[:wrong] = dissimilar[:wrong].copy(), similar[:wrong].copy()
    return similar, dissimilar


@app.function
def distances(X: FloatArray, pairs: IntArray, M: FloatArray) -> FloatArray:
    """Squared, (p,)."""
    E = X[pairs[:, 0]] - X[pairs[:, 1]]
    D: FloatArray = np.sum((E @ M) * E, axis=1)
    return D


@app.cell
def _():
    wide_slider = mo.ui.slider(
        steps=[0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
        value=1.0,
        label="ITML's bounds u and l, times",
        show_value=True,
        full_width=True,
    )
    gamma_slider = mo.ui.slider(
        steps=[0.01, 0.1, 1.0, 10.0, 100.0], value=1.0, label="ITML's γ", show_value=True, full_width=True
    )
    wrong_slider = mo.ui.slider(
        steps=[0, 1, 2, 4, 7, 10], value=0, label="pairs told wrong, of 20", show_value=True, full_width=True
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
        ax.set_title("where each metric puts the pairs", loc="left")
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

        Somebody tells of some pairs of points that they are *similar*, of others that they are not. What is to be made
        of it? Both methods stay as near to a prior metric, here the Euclidean one, as they can, by the same divergence

        $$D_{ld}(M, I) = \mathrm{tr}\, M - \log \det M - d,$$

        which is 0 for $M = I$ and infinite where $M$ is singular. With $D_{ij} = (x_i - x_j)^T M (x_i - x_j)$:

        **ITML** (Davis et al. 2007) asks that similar pairs be within $u$ and dissimilar ones beyond $l$. A bound may
        be moved, to $\xi$, at a price:

        $$\min_{M, \xi}\ D_{ld}(M, I) + \gamma\, D_{ld}(\mathrm{diag}\, \xi, \mathrm{diag}\, \xi_0),$$

        $$D_{ij} \le \xi_{ij} \ \text{(similar)}, \quad D_{ij} \ge \xi_{ij} \ \text{(not)},$$

        with $\xi_0 = u$ or $l$. **LSML** (Liu et al. 2012) has no thresholds. It takes one pair of each kind, and asks
        that the first be nearer than the second; where it is not, it pays the squared difference:

        $$\min_M\ D_{ld}(M, I) + \frac1q \sum_q \Big[ \sqrt{D_{ab}} - \sqrt{D_{cd}} \Big]_+^2.$$

        Both get the same forty pairs here; LSML compares the first similar one with the first dissimilar one, and so
        on.

        **What you should see.** ITML knows how large a distance is to be: change its bounds together, and its ball
        grows or shrinks. LSML does not look at them, and knows only which is larger. A small ball means large
        distances.

        **What is proved.** Each optimum, by a bound from dual variables. Which of the two is better is no theorem: it
        is a question of what the person who told of the pairs knew.

        ### Try

        1. Multiply the bounds by 10, then by 0.1. What happens to ITML's ball: its size, its shape? And to the order
           of the distances?
        2. Tell some pairs wrong. Whose metric changes more? Lower $\gamma$: whose mistakes does ITML now forgive?
        3. Make $\gamma$ large. Does ITML keep every bound? Where it cannot, what does it do instead?
        """
    )
    return (text,)


@app.cell
def _(balls, gamma_slider, numbers, proved, strips, text, wide_slider, wrong_slider):
    page(text, [wide_slider, gamma_slider, wrong_slider, proved], [strips, balls], [numbers])
    return


if __name__ == "__main__":
    app.run()
