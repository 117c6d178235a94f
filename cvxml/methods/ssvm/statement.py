"""The mathematics of neighbourhood gerrymandering (paper 001), row by row beside problem.py."""

from __future__ import annotations

from cvxml.methods.ssvm.forms_statement import FORMS
from cvxml.statement import Row, Section, Statement

PROBLEM = Section(
    "the problem, which is not convex",
    (
        Row(
            "min over W psd:  F(W) = ||W||^2 + C sum_i L_i",
            r"\min_{\mathbf{W} \succeq 0}\ F(\mathbf{W}) = \lVert \mathbf{W} \rVert_F^2 + C \sum_i L_i",
            equation="10",
        ),
        Row(
            "L_i = max_h [ S_W(x_i, h) + Delta(y_i, h) ] - max_{h : Delta(y_i, h) = 0} S_W(x_i, h)",
            r"L_i = \max_h \left[ S_{\mathbf{W}}(\mathbf{x}_i, h) + \Delta(y_i, h) \right]"
            r" - \max_{h : \Delta(y_i, h) = 0} S_{\mathbf{W}}(\mathbf{x}_i, h)",
            equation="5, 6",
        ),
        Row(
            "S_W(x_i, h) = - sum_{x_j in h} D_W(x_i, x_j),   |h| = k, x_i not in h",
            r"S_{\mathbf{W}}(\mathbf{x}_i, h) = - \sum_{\mathbf{x}_j \in h} D_{\mathbf{W}}(\mathbf{x}_i, \mathbf{x}_j),"
            r" \quad |h| = k, \ \mathbf{x}_i \notin h",
            equation="2",
        ),
        Row(
            "D_W(x_i, x_j) = (x_i - x_j)^T W (x_i - x_j)",
            r"D_{\mathbf{W}}(\mathbf{x}_i, \mathbf{x}_j)"
            r" = (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{W} (\mathbf{x}_i - \mathbf{x}_j)",
            equation="1",
        ),
    ),
)
FEATURES = Section(
    "the feature map",
    (
        Row(
            "Psi(x_i, h) = - sum_{x_j in h} (x_i - x_j)(x_i - x_j)^T",
            r"\Psi(\mathbf{x}_i, h)"
            r" = - \sum_{\mathbf{x}_j \in h} (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T",
            "return np.asarray(-np.sum([np.outer(",
            "8",
        ),
    ),
    "Psi",
)
LOSS = Section(
    "the task loss",
    (
        Row(
            "Delta(y, h) = max of Lam(y, r) over the classes r tied for most votes in h",
            r"\Delta(y, h) = \max \{ \Lambda(y, r) : r \text{ tied for most votes in } h \}",
            "return task_loss(",
            "4",
        ),
        Row(
            "(printed: of the r that a heuristic picks)",
            r"\text{(printed: of the } r \text{ that a heuristic picks)}",
        ),
    ),
    "Delta",
)
SCORE = Section(
    "the score",
    (
        Row(
            "S_W(x_i, h) = <W, Psi(x_i, h)>",
            r"S_{\mathbf{W}}(\mathbf{x}_i, h) = \langle \mathbf{W}, \Psi(\mathbf{x}_i, h) \rangle",
            "return cp.sum(cp.multiply(M, W))",
            "7",
        ),
    ),
    "inner",
)
LATENT = Section(
    "the sets of the second maximum, kept",
    (
        Row(
            "h*_i = argmax_{h : Delta(y_i, h) = 0} S_W(x_i, h) at the W of before; Delta = 0: y_i wins",
            r"h_i^* = \operatorname*{argmax}_{h : \Delta(y_i, h) = 0} S_{\mathbf{W}}(\mathbf{x}_i, h)"
            r" \text{ at the } \mathbf{W} \text{ of before; } \Delta = 0 \text{: } y_i \text{ wins}",
            "if len(h) != k or",
        ),
        Row(
            "P = sum_i Psi(x_i, h*_i)",
            r"P = \sum_i \Psi(\mathbf{x}_i, h_i^*)",
            "return np.asarray(np.sum([Psi(X, i, h) for i, h in enumerate(h_star)]",
        ),
    ),
    "sum_of_latent",
)
STEP = Section(
    "the convex step of CCCP",
    (
        Row(
            "min over W, t:  ||W||^2 + C sum_i t_i - C <W, P>",
            r"\min_{\mathbf{W},\, t}\ \lVert \mathbf{W} \rVert_F^2 + C \sum_i t_i - C \langle \mathbf{W}, P \rangle",
            "return cp.Problem(cp.Minimize(",
        ),
        Row("W psd", r"\mathbf{W} \succeq 0", "constraints = [W >> 0]"),
        Row(
            "t_i >= <W, Psi(x_i, h)> + Delta(y_i, h) for every i and h",
            r"t_i \ge \langle \mathbf{W}, \Psi(\mathbf{x}_i, h) \rangle + \Delta(y_i, h)"
            r" \quad \text{for every } i \text{ and } h",
            "constraints += [t[i] >= ",
        ),
    ),
    "with_rows",
)
DUAL = Section(
    "the dual of the step",
    (
        Row(
            "max over q:  C sum_ih q_ih Delta(y_i, h) - 1/4 ||P_+(-G)||^2",
            r"\max_{q}\ C \sum_{i,h} q_{ih} \Delta(y_i, h) - \tfrac{1}{4} \lVert P_+(-G) \rVert_F^2",
            "return cp.Problem(cp.Maximize(",
        ),
        Row("q_ih >= 0", r"q_{ih} \ge 0", "q = cp.Variable("),
        Row(
            "for every i:  sum_h q_ih = 1",
            r"\sum_h q_{ih} = 1 \quad \text{for every } i",
            "constraints += [cp.sum(q[",
        ),
        Row(
            "G = C ( sum_ih q_ih Psi(x_i, h) - P )",
            r"G = C \Bigl( \sum_{i,h} q_{ih} \Psi(\mathbf{x}_i, h) - P \Bigr)",
            "G = C * (",
        ),
        Row(
            "P_+ drops negative eigenvalues: ||P_+(-G)||^2 = min over S psd of ||S - G||^2",
            r"\lVert P_+(-G) \rVert_F^2 = \min_{S \succeq 0} \lVert S - G \rVert_F^2,"
            r" \quad P_+ \text{ drops negative eigenvalues}",
            "constraints = [S >> 0]",
        ),
    ),
    "dual",
)
PROVED = Section(
    "what is proved",
    (
        Row(
            "W = P_+(-G) / 2 at the optimum of the step",
            r"\mathbf{W} = P_+(-G) / 2 \quad \text{at the optimum of the step}",
        ),
        Row(
            "any feasible q gives a lower bound on the step",
            r"\text{any feasible } q \text{ gives a lower bound on the step}",
        ),
        Row(
            "the step is F at the W of before, and nowhere below F",
            r"\text{the step is } F \text{ at the } \mathbf{W} \text{ of before, and nowhere below } F",
        ),
    ),
)
STATEMENT = Statement((PROBLEM, FEATURES, LOSS, SCORE, LATENT, STEP, *FORMS, DUAL, PROVED))
