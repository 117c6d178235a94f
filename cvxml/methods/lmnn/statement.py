"""The mathematics of LMNN (Weinberger, Saul 2009), row by row beside problem.py; hinge linear, or squared."""

from __future__ import annotations

from cvxml.statement import Row, Section, Statement


def statement(squared: bool) -> Statement:
    """The mathematics with the linear hinge, or with the squared one."""
    return Statement((_problem(squared), _dual(squared), PROVED))


def _problem(squared: bool) -> Section:
    power = "^2" if squared else ""
    rows = (
        Row(
            f"min over M, xi:  (1 - mu) sum_ij D_M(x_i, x_j) + mu sum_ijl xi_ijl{power}",
            r"\min_{\mathbf{M},\, \xi}\ (1 - \mu)"
            r" \sum_{i,\, j \rightsquigarrow i} D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_j)"
            rf" + \mu \sum_{{i,\, j \rightsquigarrow i,\, l}} \xi_{{ijl}}{power}",
            "push = ",
        ),
        Row("M psd,  xi >= 0", r"\mathbf{M} \succeq 0, \quad \xi \ge 0", "constraints = [M >> 0, xi >= 0]"),
        Row(
            "for every target j of i, every l with y_l != y_i: D_M(x_i, x_l) - D_M(x_i, x_j) >= 1 - xi_ijl",
            r"D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_l) - D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_j) \ge 1 - \xi_{ijl}"
            r" \quad \text{for every } j \rightsquigarrow i \text{ and every } l \text{ with } y_l \ne y_i",
            "for t, (i, j, l) in ",
        ),
        Row(
            "D_M(x_i, x_j) = (x_i - x_j)^T M (x_i - x_j)",
            r"D_{\mathbf{M}}(\mathbf{x}_i, \mathbf{x}_j)"
            r" = (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{M} (\mathbf{x}_i - \mathbf{x}_j)",
            "distances[i, j] = ",
        ),
        Row(
            "j: the targets of i, the k nearest\nof its class, or given",
            r"j \rightsquigarrow i \text{: the targets } j \text{ of } i,"
            r" \text{ the } k \text{ nearest of its class, or given}",
            "pull = ",
        ),
        Row(
            "where there is no triplet (i, j, l): the first sum alone",
            r"\text{where there is no triplet } (i, j, l) \text{: the first sum alone}",
            "return cp.Problem(cp.Minimize((1 - mu) * pull), [M >> 0])",
        ),
    )
    return Section("the problem", rows, "literal")


def _dual(squared: bool) -> Section:
    rows = (
        *(SQUARED if squared else LINEAR),
        Row(
            "Z = (1 - mu) sum_ij X_ij + sum_ijl lambda_ijl (X_ij - X_il)",
            r"Z = (1 - \mu) \sum_{i,\, j \rightsquigarrow i} X_{ij} + \sum_{ijl} \lambda_{ijl} (X_{ij} - X_{il})",
            "rows = ",
        ),
        Row(
            "X_ij = (x_i - x_j)(x_i - x_j)^T",
            r"X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T",
            "return np.outer(X[i] - X[j]",
        ),
    )
    return Section("its dual", rows, "dual")


LINEAR = (
    Row(
        "max over lambda:  sum_ijl lambda_ijl",
        r"\max_{\lambda}\ \sum_{ijl} \lambda_{ijl}",
        "return cp.Problem(cp.Maximize(cp.sum(lam)),",
    ),
    Row("Z psd,  0 <= lambda_ijl <= mu", r"Z \succeq 0, \quad 0 \le \lambda_{ijl} \le \mu"),
)
SQUARED = (
    Row(
        "max  sum_ijl ( lambda_ijl - lambda_ijl^2/(4 mu) )",
        r"\max_{\lambda}\ \sum_{ijl} \Bigl( \lambda_{ijl} - \frac{\lambda_{ijl}^2}{4 \mu} \Bigr)",
        "return cp.Problem(cp.Maximize(cp.sum(lam) - ",
    ),
    Row("Z psd,  lambda_ijl >= 0", r"Z \succeq 0, \quad \lambda_{ijl} \ge 0", "if squared:"),
)
PROVED = Section(
    "what is proved",
    (
        Row(
            "any feasible lambda gives a lower bound",
            r"\text{any feasible } \lambda \text{ gives a lower bound}",
        ),
    ),
)
