# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: a margin constraint of MLSVM and its dual variable, called its price (Nguyen, Guo 2008).

A marimo notebook. The reader changes lam, and sees the metric, the active constraints and their prices. Then the margin
1 of one constraint is relaxed to 1 - eps. Its price is minus the slope of the optimal value in eps, at eps = 0.
"""

import marimo

app = marimo.App(width="full", app_title="MLSVM: a constraint and its price")

with app.setup:
    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.backend import solve_problem
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.core.result import Solution
    from cvxml.displays import MetricEllipseDisplay
    from cvxml.lessons._page import BENEATH, drawn, name_points, page, table


@app.function
def points() -> tuple[FloatArray, IntArray]:
    """Return two classes of nine points, X (18, 2) and y (18,). The second feature is noise."""
    rng = np.random.default_rng(1)
    y = np.arange(18) % 2
    X = rng.standard_normal((18, 2)) * [0.45, 1.2]
    X[:, 0] += 1.3 * y
    return X.round(2), y


@app.function
def duals(solution: Solution) -> FloatArray:
    """Return the dual variables s_i (n,) of the margin constraints of all points, from the certificate."""
    dual = solution.certificate.dual
    return np.bincount(dual["u_index"][:, 0], dual["u"], minlength=len(solution.X)).astype(np.float64)


@app.function
def relaxed_optimum(X: FloatArray, y: IntArray, lam: float, row: int, eps: float) -> float:
    """Return the optimal value of MLSVM if one margin constraint asks for 1 - eps instead of 1.

    row: the place of this constraint among the margin constraints, from 0. cvxpy solves the changed problem.
    """
    problem = cvxml.problem("mlsvm", X, y, lam=lam)
    rows = list(problem.constraints)  # A psd, xi >= 0, then the margin constraints
    rows[2 + row] = rows[2 + row].expr <= eps
    changed = type(problem)(problem.objective, rows)
    solve_problem(changed, "clarabel")
    return float(changed.value)


@app.cell
def _():
    X, y = points()
    start = cvxml.evaluate("mlsvm", X, y, np.eye(2)).values
    usable = [i for i in range(len(X)) if start["targets"][i] and start["impostors"][i]]
    return X, usable, y


@app.cell
def _(usable):
    lam_slider = mo.ui.slider(
        steps=[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
        value=0.02,
        label="λ",
        show_value=True,
        full_width=True,
    )
    point_menu = mo.ui.dropdown(
        {f"point {i}": i for i in usable}, value="point 9", label="relax", full_width=True
    )
    return lam_slider, point_menu


@app.cell
def _(lam_slider):
    lam = lam_slider.value
    return (lam,)


@app.cell
def _(point_menu):
    point = point_menu.value
    return (point,)


@app.cell
def _(X, lam, y):
    solution = cvxml.solve("mlsvm", X, y, lam=lam)
    values = cvxml.evaluate("mlsvm", X, y, solution.metric, lam=lam).values
    s = duals(solution)
    return s, solution, values


@app.cell
def _(X, s, solution, usable, values, y):
    n = len(X)
    priced = [i for i in usable if s[i] > 1e-9 / n]

    def draw_metric(ax):
        MetricEllipseDisplay.from_metric(solution.metric, X, y, ax=ax)
        ax.scatter(*X[priced].T, s=150, facecolors="none", edgecolors="black", linewidths=1.5)
        ax.set_title(f"balls of A; ringed: {len(priced)} with a price", loc="left")
        ax.legend(**BENEATH)
        name_points(ax, X[usable], usable, X)

    def draw_prices(ax):
        places = np.arange(len(usable))
        ax.bar(places - 0.2, n * s[usable], 0.4, color="#0072B2", label="price, $n s_i$")
        ax.bar(places + 0.2, values["xi"][usable], 0.4, color="#E69F00", hatch="//", label=r"slack $\xi_i$")
        ax.axhline(1, color="black", lw=1, ls="--", label="largest price: $s_i = 1/n$")
        ax.set_xticks(places, [str(i) for i in usable])
        ax.set_xlabel("point i")
        ax.set_ylim(0, max(1.6, 1.05 * float(values["xi"].max())))
        ax.set_title("price and slack of each point", loc="left")
        ax.legend(loc="upper right")

    balls = drawn(
        draw_metric, "the points with the unit ball of A; those with a price are ringed", (5.2, 6.4)
    )
    bars = drawn(draw_prices, "the price and the slack of each point, as bars", (5.2, 3.8))
    return balls, bars, n, priced


@app.cell
def _(X, lam, n, point, s, solution, usable, y):
    eps = np.array([-0.4, -0.2, -0.1, 0.1, 0.2, 0.4])
    solved = np.array([relaxed_optimum(X, y, lam, usable.index(point), e) for e in eps])
    line = solution.lower_bound - s[point] * eps

    def draw_shadow(ax):
        ax.plot(eps, line, color="#D55E00", label=f"bound, slope $-s_i$ = {-s[point]:.4f}")
        ax.plot(eps, solved, "o", color="#0072B2", label="optimum, solved again")
        ax.plot(0, solution.objective, "k*", ms=13, label="the problem as printed")
        ax.set_xlabel(r"$\varepsilon$: the margin of this point is $1 - \varepsilon$")
        ax.set_ylabel("optimal value")
        ax.set_ylim(solution.objective - 0.5 / n, solution.objective + 0.5 / n)
        ax.set_title(f"relax the constraint of point {point}; $s_i$ = {n * s[point]:.3g} / n", loc="left")
        ax.legend()

    shadow = drawn(
        draw_shadow, "the optimal value against the change of one margin, above its tangent", (5.2, 3.8)
    )
    return eps, line, shadow, solved


@app.cell
def _(lam, n, s, solution, usable, values):
    def pairs_of(name, i):
        """Return a text that lists neighbours j of point i: for example "4 (0.25)" for u_i4 = 0.25 / n.

        Only neighbours with a dual variable above 0 are listed. name: "u" for the dual variables u_ij of impostors j,
        "w" for the w_ij of targets j.
        """
        dual = solution.certificate.dual
        mine = (dual[f"{name}_index"][:, 0] == i) & (dual[name] > 1e-9 / n)
        return ", ".join(
            f"{j} ({n * price:.2f})"
            for (_, j), price in zip(dual[f"{name}_index"][mine], dual[name][mine], strict=True)
        )

    def margin(i):
        return f"{1 - values['xi'][i]:.3f}" if values["xi"][i] > 1e-9 else "≥ 1"

    def reading(i):
        if s[i] <= 1e-9 / n:
            return "inactive, price 0"
        return "violated, largest price" if s[i] >= (1 - 1e-9) / n else "active, price between"

    rows = [[i, margin(i), f"{n * s[i]:.3f}", pairs_of("u", i), pairs_of("w", i), reading(i)] for i in usable]
    active = table(["i", "margin", "$n s_i$", "impostors $n u_{ij}$", "targets $n w_{il}$", "reading"], rows)
    proved = mo.md(
        rf"""
        Objective **{solution.objective:.9f}**, lower bound **{solution.lower_bound:.9f}**, gap {solution.gap:.1e}.
        Relative to the scale $\frac\lambda2\|A\|^2$ the gap is {solution.rel_gap:.1e}. So
        $\|A - A^*\| \le$ {solution.certificate.radius:.1e}, with $\|A\|$ = {np.linalg.norm(solution.metric):.3g}
        at $\lambda$ = {lam:g}. *{solution.status.sentence}*
        """
    )
    return active, proved


@app.cell
def _():
    text = mo.md(
        r"""
        # A constraint and its price

        MLSVM (Nguyen, Guo 2008) has one constraint per point: its nearest impostor should be farther away than its
        furthest target, by a margin of 1. The slack $\xi_i$ is the missing part of the margin, and it is penalised:

        $$\min_{A \succeq 0,\ \xi \ge 0} \ \frac{\lambda}{2}\|A\|_F^2 + \frac1n \sum_i \xi_i \tag{2}$$

        $$\min_{j \in I_i} d_A(x_i, x_j) \ \ge\ \max_{l \in T_i} d_A(x_i, x_l) + 1 - \xi_i.$$

        $T_i$ and $I_i$ are the neighbours of $x_i$ from its own class and from other classes, among the $K = 4$ nearest
        points. If all neighbours of a point belong to one class, the point has no constraint and is not in the table.
        $A \succeq 0$ means that $A$ is psd: symmetric, without a negative eigenvalue.

        **Prices.** The dual variable of a constraint is its *price* $s_i$. It is divided over impostors
        ($u_{ij} \ge 0$) and targets ($w_{il} \ge 0$), with $\sum_j u_{ij} = \sum_l w_{il} = s_i \le 1/n$. *All* such
        prices prove a lower bound:

        $$\text{objective} \ \ge\ \sum_i s_i - \frac{1}{2\lambda}\|P_+(G)\|^2,$$

        $$G = \sum_i \Big( \sum_j u_{ij} X_{ij} - \sum_l w_{il} X_{il} \Big),$$

        with $X_{ij} = (x_i - x_j)(x_i - x_j)^T$. $P_+(G)$ is the psd matrix nearest to $G$: its negative eigenvalues
        are set to 0. At the optimum $A = P_+(G)/\lambda$, so only pairs with a price determine the metric. There are
        three kinds of constraints:

        - Inactive (the margin is larger than 1): the price is 0.
        - Violated: the price is $1/n$, the largest possible one.
        - Active (the margin is exactly 1): the price is anywhere between.

        **A price is a derivative.** Replace 1 by $1 - \varepsilon$ in one constraint. The prices stay feasible, and
        their bound decreases by $s_i \varepsilon$. The last picture shows this *proved* bound as a line. The dots are
        optimal values of the literal problem with the changed margin. They lie above the line, and touch it at
        $\varepsilon = 0$. If $s_i$ is not unique, the optimal value has a kink, and more than one line touches it.

        **Proved and unproved.** We compute the gap from $(u, w)$ and the data, so you need not trust any solver. The
        dots come from a solver, without a proof.

        ### Try

        1. Halve $\lambda$. Which constraint is no longer violated, and how does its price change?
        2. Set $\lambda = 10$. All prices are $1/n$. Why is $A$ now $P_+(G)/\lambda$ with a constant $G$? How does $A$
           change if $\lambda$ doubles?
        3. Relax the constraint of a point with price 0. How much does the optimal value decrease? How much does it
           increase if you ask for *more* margin?
        """
    )
    return (text,)


@app.cell
def _(active, balls, bars, lam_slider, point_menu, proved, shadow, text):
    page(text, [lam_slider, point_menu, proved], [balls, bars, shadow], [active])
    return


if __name__ == "__main__":
    app.run()
