# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: the cost of the argmin misprint in Algorithm 1 of MLSVM (Nguyen, Guo 2008).

A marimo notebook. It runs the algorithm as printed (nearest target) and corrected (furthest target), and compares both
with the certified optimum.
"""

import marimo

app = marimo.App(width="full", app_title="MLSVM: the cost of a misprint")

with app.setup:
    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml import datasets
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.lessons._page import drawn, page, table
    from cvxml.methods.mlsvm.algorithm1 import Run
    from cvxml.methods.mlsvm.method import algorithm1


@app.function
def chosen(name: str) -> tuple[FloatArray, IntArray]:
    """Return 40 standardized points and their labels from a data set: so few that Algorithm 1 runs in a moment."""
    X, y = datasets.subsample(*datasets.load(name), 40, seed=2)
    return datasets.standardize(X), y


@app.function
def stall(run: Run) -> float:
    """Return the mean gap over the last quarter of a run of Algorithm 1: the level at which the run stalls."""
    return float(run.gaps[-max(1, len(run.gaps) // 4) :].mean())


@app.cell
def _():
    data_menu = mo.ui.dropdown(["balance", "iris", "wine"], value="balance", label="data", full_width=True)
    lam_slider = mo.ui.slider(
        steps=[0.02, 0.05, 0.1, 0.2, 0.5, 1.0], value=0.1, label="λ", show_value=True, full_width=True
    )
    steps_slider = mo.ui.slider(
        steps=[50, 100, 200, 400], value=200, label="iterations T", show_value=True, full_width=True
    )
    return data_menu, lam_slider, steps_slider


@app.cell
def _(data_menu):
    data = data_menu.value
    return (data,)


@app.cell
def _(lam_slider):
    lam = lam_slider.value
    return (lam,)


@app.cell
def _(steps_slider):
    n_steps = steps_slider.value
    return (n_steps,)


@app.cell
def _(data, lam):
    X, y = chosen(data)
    optimum = cvxml.solve("mlsvm", X, y, lam=lam)
    return X, optimum, y


@app.cell
def _(X, lam, n_steps, optimum, y):
    given = {"lam": lam, "lower_bound": optimum.lower_bound, "n_steps": n_steps}
    printed = algorithm1(X, y, paper=True, **given)
    corrected = algorithm1(X, y, **given)
    return corrected, printed


@app.cell
def _(X, corrected, lam, n_steps, optimum, printed, y):
    def draw_objectives(ax):
        ax.plot(
            printed.iterations, printed.objectives, color="#D55E00", lw=1.2, label="as printed: x⁺ = argmin"
        )
        ax.plot(
            corrected.iterations, corrected.objectives, color="#0072B2", lw=2, label="corrected: x⁺ = argmax"
        )
        ax.axhline(optimum.objective, color="black", ls="--", label="certified optimum")
        top = max(float(np.median(printed.objectives)), float(np.median(corrected.objectives)))
        low = optimum.objective
        ax.set_ylim(low - 0.15 * (top - low), top + 1.5 * (top - low))
        ax.set_xlabel("iteration t")
        ax.set_ylabel("objective (2)")
        ax.set_title("Algorithm 1, twice", loc="left")
        ax.legend(loc="upper right")

    def draw_gaps(ax):
        ax.loglog(printed.iterations, printed.gaps, color="#D55E00", lw=1.2, label="as printed")
        ax.loglog(corrected.iterations, corrected.gaps, color="#0072B2", lw=2, label="corrected")
        ax.loglog(
            corrected.iterations, corrected.gaps[0] / corrected.iterations, ":", color="#767676", label="1/t"
        )
        ax.set_xlabel("iteration t")
        ax.set_ylabel("objective - certified lower bound")
        ax.set_title("proved gap of each iterate", loc="left")
        ax.legend(loc="lower left")

    picture = drawn(
        draw_objectives, "the objective of both versions against the iteration, above the certified optimum"
    )
    proved_gaps = drawn(draw_gaps, "the proved gap of both versions against the iteration")
    excess = {
        name: 100 * (float(run.objectives.min()) / optimum.objective - 1)
        for name, run in (("as printed", printed), ("corrected", corrected))
    }
    numbers = table(
        [
            "Algorithm 1",
            "best iterate, above the optimum",
            "mean gap of the last quarter",
            "last objective",
        ],
        [
            [name, f"{excess[name]:.2f} %", f"{stall(run):.2e}", f"{run.objectives[-1]:.6f}"]
            for name, run in (("as printed", printed), ("corrected", corrected))
        ],
    )
    at = cvxml.evaluate("mlsvm", X, y, optimum.metric, lam=lam).values
    several = [
        len(own) > 1 for own, others in zip(at["targets"], at["impostors"], strict=True) if own and others
    ]
    proved = mo.md(
        f"""
        {len(several)} of the {len(X)} points have a constraint. The misprint can affect {sum(several)} of them, which
        have more than one target. Optimum at λ = {lam:g}: objective **{optimum.objective:.9f}**, lower bound
        **{optimum.lower_bound:.9f}**, relative gap {optimum.rel_gap:.1e}. After {n_steps} iterations, the best iterate
        of the printed version is **{excess["as printed"]:.2f} %** above the objective of this metric. The lower bound
        shows that the true excess is hardly larger. It is not proved that the printed version would never reach the
        optimum, but the curve is flat.
        """
    )
    return excess, numbers, picture, proved, proved_gaps, several


@app.cell
def _():
    text = mo.md(
        r"""
        # The cost of a misprint

        Algorithm 1 of MLSVM (Nguyen, Guo 2008) descends along a subgradient of (2). Each iteration finds the points
        that violate their margin,

        $$V = \{\, i : \min_{j \in I_i} d_A(x_i, x_j) - \max_{l \in T_i} d_A(x_i, x_l) < 1 \},$$

        makes a step of size $\eta_t$, and projects twice. The first projection sets negative eigenvalues to 0. The
        second one maps into the ball of radius $1/\sqrt\lambda$. The step is

        $$A_{t + 1/3} = (1 - \eta_t \lambda) A_t + \frac{\eta_t}{n} \sum_{i \in V} \big[ X_i^- - X_i^+ \big],$$

        where $X_i^\pm = (x_i - x_i^\pm)(x_i - x_i^\pm)^T$, and $x_i^-$ is the nearest impostor by $d_A$.

        The derivative of $\max_l d_A(x_i, x_l)$ belongs to the *furthest* target: $x_i^+ = \arg\max$. In our transcript
        of the paper, this is the nearest target instead. The transcript mixes this line with the next one, so the paper
        itself may be right:

        $$x_i^+ = \arg\min_{l \in T_i} d_A(x_i, x_l).$$

        This does not give a subgradient of the problem, so the run may settle at another metric. If a point has only
        one target, the two formulas agree. The misprint affects the other points only.

        **The second erratum.** With $\eta_t = 1/(\lambda t)$ we have $1 - \eta_1 \lambda = 0$, so the first step erases
        $A_1$. The corrected run uses $\eta_t = 1/(\lambda (t + 1))$. The other run uses the printed step.

        **Proved and unproved.** Both runs are compared with the same lower bound, which our own arithmetic computes
        from dual variables. So each gap in the picture is proved for that iterate. The picture shows that the corrected
        gap decreases like $1/(\lambda t)$. A weaker bound for the best iterate is proved in `docs/mlsvm_algorithm.md`.

        ### Try

        1. Double $T$. Which of the two curves improves with the extra time?
        2. Choose iris, where most neighbourhoods contain one class only. How many points can the misprint affect, and
           how large is the effect?
        3. Make $\lambda$ large. Why do the two curves come closer? (Look at the distance of the certified optimum from
           $A = 0$.)
        """
    )
    return (text,)


@app.cell
def _(data_menu, lam_slider, numbers, picture, proved, proved_gaps, steps_slider, text):
    page(text, [data_menu, lam_slider, steps_slider], [picture, proved_gaps], [numbers, proved])
    return


if __name__ == "__main__":
    app.run()
