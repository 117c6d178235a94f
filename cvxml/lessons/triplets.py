# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: the active triplets of LMNN, and their dual variables, called prices (Weinberger, Saul 2009).

A marimo notebook. A triplet (i, j, l) asks that the squared distance D_il to a point of another class is at least 1
larger than D_ij to a target. The reader changes the weight mu, and sees which triplets are active and how the price
depends on the margin D_il - D_ij.
"""

import marimo

app = marimo.App(width="full", app_title="LMNN: the active triplets")

with app.setup:
    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.core.result import Solution
    from cvxml.displays._draw import frame
    from cvxml.displays._geometry import outline
    from cvxml.displays._scatter import scatter
    from cvxml.lessons._page import BENEATH, COLOURS, drawn, name_points, page, table

    NEVER, BETWEEN, FULL = "margin above 1: price 0", "margin 1: price between", "margin below 1: price μ"


@app.function
def points() -> tuple[FloatArray, IntArray]:
    """Return three overlapping classes of seven points, X (21, 2) and y (21,). The second feature is noise."""
    rng = np.random.default_rng(8)
    y = np.arange(21) % 3
    X = rng.standard_normal((21, 2)) * [0.4, 1.0]
    X[:, 0] += 0.9 * y
    return X.round(2), y


@app.function
def priced(X: FloatArray, y: IntArray, solution: Solution, k: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return all triplets (t, 3) of a target (i, j) and a point l of another class, with margins and prices (t,).

    The margin of a triplet is D_il - D_ij in the metric of `solution`. Its price is its dual variable. k: the number of
    targets of a point.
    """
    apart = X[:, None] - X
    given = np.sum(apart**2, axis=2)
    given[y[:, None] != y] = np.inf
    np.fill_diagonal(given, np.inf)
    near = np.argsort(given, axis=1, kind="stable")[:, :k]
    rows = ((i, j, l) for i in range(len(X)) for j in near[i] for l in np.flatnonzero(y != y[i]))
    triplets = np.array(list(rows))
    D = np.einsum("ijk,kl,ijl->ij", apart, solution.metric, apart)
    i, j, l = triplets.T
    dual = solution.certificate.dual
    known = {tuple(t): a for t, a in zip(dual["triplets"].tolist(), dual["price"], strict=True)}
    return triplets, D[i, l] - D[i, j], np.array([known.get(tuple(t), 0.0) for t in triplets.tolist()])


@app.function
def sides(price: FloatArray, mu: float) -> dict[str, np.ndarray]:
    """Return three masks (t,) of triplets: those with price 0, with price mu, and with a price between.

    A price within 1e-6 mu of 0 or mu counts as 0 or mu. The keys are the texts `NEVER`, `FULL` and `BETWEEN`, which the
    lesson shows.
    """
    none, full = price <= 1e-6 * mu, price >= (1 - 1e-6) * mu
    return {NEVER: none, BETWEEN: ~none & ~full, FULL: full}


@app.cell
def _():
    mu_slider = mo.ui.slider(
        steps=[0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99],
        value=0.5,
        label="μ, the weight of the margins",
        show_value=True,
        full_width=True,
    )
    k_slider = mo.ui.slider(
        steps=[1, 2, 3, 4], value=2, label="k targets per point", show_value=True, full_width=True
    )
    point_menu = mo.ui.dropdown(
        {f"point {i}": i for i in range(21)}, value="point 4", label="look at", full_width=True
    )
    return k_slider, mu_slider, point_menu


@app.cell
def _(k_slider, mu_slider):
    mu, k = mu_slider.value, k_slider.value
    return k, mu


@app.cell
def _(point_menu):
    point = point_menu.value
    return (point,)


@app.cell
def _(k, mu):
    X, y = points()
    solution = cvxml.solve("lmnn", X, y, mu=mu, n_neighbors=k, tol=1e-9)
    triplets, margin, price = priced(X, y, solution, k)
    groups = sides(price, mu)
    return X, groups, margin, price, solution, triplets, y


@app.cell
def _(X, groups, margin, mu, point, price, solution, triplets, y):
    own = triplets[:, 0] == point
    targets, impostors = np.unique(triplets[own, 1]), np.unique(triplets[own & (price > 1e-6 * mu), 2])
    far = max(float((X[point] - X[j]) @ solution.metric @ (X[point] - X[j])) for j in targets)
    colours = dict(zip(groups, (COLOURS[5], COLOURS[4], COLOURS[3]), strict=True))

    def draw_point(ax):
        scatter(X, y, ax=ax, legend=False)
        for shown in ax.collections:
            shown.set_sizes([36])
        for k, j in enumerate(targets):
            ax.plot(*X[[point, j]].T, "k-", lw=2, zorder=0, label="_" if k else "its targets")
        for name, mine in groups.items():
            for l in np.unique(triplets[own & mine, 2]) if name != NEVER else ():
                ax.plot(*X[[point, l]].T, ":", color=colours[name], lw=2.5, zorder=0)
        lines = []
        if np.linalg.eigvalsh(solution.metric)[0] > 1e-9 * np.trace(solution.metric):
            for squared, style in ((far, "-"), (far + 1, "--")):
                lines.append(outline(solution.metric, X[point], np.sqrt(squared)))
                ax.plot(*lines[-1].T, style, color=COLOURS[0], label=f"squared distance {squared:.2f}")
        frame(ax, X, lines)
        ax.set_title(f"point {point}: {len(impostors)} impostors with a price", loc="left")
        ax.legend(**BENEATH)
        name_points(ax, X, range(len(X)))

    def draw_prices(ax):
        for name, mine in groups.items():
            ax.scatter(
                margin[mine],
                price[mine] / mu,
                s=30,
                color=colours[name],
                alpha=0.7,
                lw=0,
                zorder=2,
                label=f"{name} ({mine.sum()})",
            )
        ax.scatter(
            margin[own],
            price[own] / mu,
            s=70,
            facecolors="none",
            edgecolors="black",
            lw=0.8,
            label=f"of point {point} ({own.sum()})",
        )
        ax.axvline(1, color="black", lw=1, ls=":")
        ax.set_xlim(min(0.0, float(margin.min())) - 0.2, 6)
        ax.set_xlabel("margin $D_{il} - D_{ij}$ (up to 6)")
        ax.set_ylabel(r"price / $\mu$")
        ax.set_title(f"{len(price)} triplets, {np.sum(price > 1e-6 * mu)} with a price", loc="left")
        ax.legend(**{**BENEATH, "ncols": 1})

    plane = drawn(
        draw_point, "a point with its targets, its impostors that have a price, and two balls", (5.2, 5.6)
    )
    chart = drawn(draw_prices, "the price of every triplet against its margin: a step at 1", (5.2, 4.8))
    return chart, colours, impostors, plane, targets


@app.cell
def _(groups, margin, mu, price, solution):
    shares = table(
        ["triplets", "how many", "sum of prices"],
        [[name, int(mine.sum()), f"{price[mine].sum():.4g}"] for name, mine in groups.items()],
    )
    missed = float(np.maximum(0, 1 - margin).sum())
    proved = mo.md(
        f"""
        Objective **{solution.objective:.9f}** ({solution.objective - mu * missed:.4g} pull, {mu * missed:.4g} push),
        lower bound **{solution.lower_bound:.9f}** (the sum of all prices). *{solution.status.sentence}*
        """
    )
    return missed, proved, shares


@app.cell
def _():
    text = mo.md(
        r"""
        # The active triplets

        LMNN (Weinberger, Saul 2009) pulls the $k$ *targets* $j$ of each point $i$ towards it; these are the nearest
        points of its class. It pushes every point $l$ of another class, an *impostor*, further away than each target,
        by a margin of 1:

        $$\min_{M \succeq 0}\ (1 - \mu) \sum_{ij} D_{ij} + \mu \sum_{ijl} [1 + D_{ij} - D_{il}]_+$$

        with $D_{ij} = (x_i - x_j)^T M (x_i - x_j)$. $M \succeq 0$ means that $M$ is symmetric, with no negative
        eigenvalue. There are hundreds of triplets $(i, j, l)$, and most of them do not influence the optimum.

        **Prices.** The dual variable of a triplet is its *price* $\lambda_{ijl}$, with $0 \le \lambda_{ijl} \le \mu$.
        If

        $$(1 - \mu) \sum_{ij} X_{ij} - \sum_{ijl} \lambda_{ijl} (X_{il} - X_{ij}) \succeq 0,$$

        with $X_{ij} = (x_i - x_j)(x_i - x_j)^T$, then every metric has an objective of at least $\sum \lambda_{ijl}$.
        At the optimum the two are equal. This needs, for *each* triplet, one of three cases:

        - its margin is more than 1, and its price is 0;
        - its margin is less than 1, and its price is $\mu$;
        - its margin is 1, and its price is anything between.

        So all dots of the second picture lie on a step. Triplets with a positive price are **active**. If you remove
        any other triplet, the optimum stays the same.

        **The balls.** The inner ball goes through the furthest target of the point. The outer ball has a squared radius
        that is larger by 1. Impostors in the outer ball violate a margin.

        **Proved.** The objective and the bound are proved: our own arithmetic repairs the prices until they are
        feasible. Neither the optimum nor the prices need be unique. Other prices may prove the same bound.

        ### Try

        1. Look at some points. Which impostors are inside the outer ball? Do all of them have the price μ?
        2. Make $\mu$ small. How do the metric and the number of triplets with a price change? Why does a program that
           uses only active triplets get slower?
        3. Raise $k$ by one. How many triplets are added, and how many of them get a price?
        """
    )
    return (text,)


@app.cell
def _(chart, k_slider, mu_slider, plane, point_menu, proved, shares, text):
    page(text, [mu_slider, k_slider, point_menu, proved], [plane, chart], [shares])
    return


if __name__ == "__main__":
    app.run()
