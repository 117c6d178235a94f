"""The mathematics of MMC (Xing et al. 2002), row by row beside problem.py; A full, or diagonal."""

from __future__ import annotations

from cvxml.statement import Row, Section, Statement


def statement(diagonal: bool) -> Statement:
    """The mathematics where A is any psd matrix, or a diagonal one."""
    return Statement((_problem(diagonal), _dual(diagonal), _proved(diagonal)))


def _problem(diagonal: bool) -> Section:
    also = (" and diagonal", r" \text{ and diagonal}") if diagonal else ("", "")
    rows = (
        Row(
            "min over A:  - sum_{(i, j) in D} ||x_i - x_j||_A",
            r"\min_{A}\ {-} \sum_{(\mathbf{x}_i, \mathbf{x}_j) \in \mathcal{D}}"
            r" \lVert \mathbf{x}_i - \mathbf{x}_j \rVert_A",
            "return cp.Problem(",
            "6",
        ),
        Row(
            "sum_{(i, j) in S} ||x_i - x_j||_A^2 <= 1, the budget",
            r"\sum_{(\mathbf{x}_i, \mathbf{x}_j) \in \mathcal{S}} \lVert \mathbf{x}_i - \mathbf{x}_j \rVert_A^2"
            r" \le 1 \text{, the budget}",
            "constraints = [cp.sum(squared_S) <= budget]",
            "7",
        ),
        Row(f"A psd{also[0]}", rf"A \succeq 0{also[1]}", "constraints += [cp.diag(", "8"),
        Row(
            "||x_i - x_j||_A = sqrt( (x_i - x_j)^T A (x_i - x_j) )",
            r"\lVert \mathbf{x}_i - \mathbf{x}_j \rVert_A"
            r" = \sqrt{(\mathbf{x}_i - \mathbf{x}_j)^T A (\mathbf{x}_i - \mathbf{x}_j)}",
            "squared_S = ",
        ),
        Row("S: the similar pairs", r"\mathcal{S} \text{: the similar pairs}", "S = np.array("),
        Row("D: the dissimilar pairs", r"\mathcal{D} \text{: the dissimilar pairs}", "D = np.array("),
    )
    return Section("the problem, what is maximised negated", rows, "literal")


def _dual(diagonal: bool) -> Section:
    matrix = (
        "mu sum_{(i, j) in S} X_ij - sum_t c_t X_t",
        r"\mu \sum_{\mathcal{S}} X_{ij} - \sum_{t \in \mathcal{D}} c_t X_t",
    )
    constraint = (
        Row(
            f"diagonal of ( {matrix[0]} ) >= 0",
            rf"\operatorname{{diag}} \Bigl( {matrix[1]} \Bigr) \ge 0",
            "constraints = [mu * np.sum(",
        )
        if diagonal
        else Row(f"{matrix[0]} psd", rf"{matrix[1]} \succeq 0", "constraints = [mu * (S.T @ S)")
    )
    rows = (
        Row(
            "max over c, mu:  - 1/2 ( sum_t 1/c_t + mu ),  budget 1",
            r"\max_{c,\, \mu}\ {-} \frac{1}{2} \Bigl( \sum_{t \in \mathcal{D}} \frac{1}{c_t} + \mu \Bigr),"
            r" \quad \text{budget } 1",
            "return cp.Problem(",
        ),
        Row("c_t > 0, t in D", r"c_t > 0 \quad (t \in \mathcal{D})", "c = cp.Variable("),
        constraint,
        Row(
            "X_ij = (x_i - x_j)(x_i - x_j)^T;  t: a pair of D whose points differ",
            r"X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T,"
            r" \quad t \text{: a pair of } \mathcal{D} \text{ whose points differ}",
            "D = np.array(",
        ),
    )
    return Section("its dual", rows, "dual")


def _proved(diagonal: bool) -> Section:
    of, direction = ("diagonal entry", "feature") if diagonal else ("eigenvalue", "direction")
    rows = (
        Row(
            "any c > 0 gives a bound, with the least mu that the constraint allows:",
            r"\text{any } c > 0 \text{ gives a bound, with the least } \mu \text{ that the constraint allows:}",
        ),
        Row(
            f"the largest {of} of sum_t c_t X_t relative to sum_{{(i, j) in S}} X_ij",
            rf"\text{{the largest {of} of }} \textstyle\sum_t c_t X_t \text{{ relative to }}"
            r" \textstyle\sum_{\mathcal{S}} X_{ij}",
        ),
        Row(
            "the best multiple of any c gives - sqrt( mu sum_t 1/c_t )",
            r"\text{the best multiple of any } c \text{ gives } - \sqrt{\mu \textstyle\sum_t 1 / c_t}",
        ),
        Row(
            "c_t = 1 / ||x_i - x_j||_A at the optimum",
            r"c_t = 1 / \lVert \mathbf{x}_i - \mathbf{x}_j \rVert_A \text{ at the optimum}",
        ),
        Row(
            f"refused: a dissimilar pair differs in a {direction} in which no similar one does",
            rf"\text{{refused: a dissimilar pair differs in a {direction} in which no similar one does}}",
        ),
    )
    return Section("what is proved", rows)
