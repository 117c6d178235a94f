"""The mathematics of MCML (Globerson, Roweis 2005), row by row beside problem.py."""

from __future__ import annotations

from cvxml.statement import Row, Section, Statement

PRINTED = Section(
    "the problem",
    (
        Row(
            "min over A psd:  sum_i KL[ p0(.|i) | p_A(.|i) ]",
            r"\min_{A \succeq 0}\ \sum_i \mathrm{KL}\bigl[ p_0(\cdot | i) \,\big|\, p_A(\cdot | i) \bigr]",
        ),
        Row(
            "p_A(j|i) = exp(-D_A(i,j)) / sum_{k != i} exp(-D_A(i,k))",
            r"p_A(j | i) = \frac{\exp(-D_A(i,j))}{\sum_{k \ne i} \exp(-D_A(i,k))}",
        ),
        Row(
            "p0(j|i) = 1 / (n_c - 1) for the others j of the class of i, of size n_c; 0 for the rest",
            r"p_0(j | i) = \frac{1}{n_c - 1} \text{ for the others } j \text{ of the class of } i,"
            r" \text{ of size } n_c \text{; } 0 \text{ for the rest}",
        ),
        Row(
            "below, the constant sum_i log(n_c - 1) is added",
            r"\text{below, the constant } \textstyle\sum_i \log(n_c - 1) \text{ is added}",
        ),
    ),
)
PROBLEM = Section(
    "the same, but for a constant",
    (
        Row(
            "min over A:  sum_i [ mean_{j in class(i), j != i} D_A(i,j) + log sum_{k != i} exp(-D_A(i,k)) ]",
            r"\min_{A}\ \sum_i \Bigl[ \operatorname*{mean}_{j \in \mathrm{class}(i),\, j \ne i} D_A(i,j)"
            r" + \log \sum_{k \ne i} \exp(-D_A(i,k)) \Bigr]",
            "terms.append(",
        ),
        Row("A psd", r"A \succeq 0", "return cp.Problem("),
        Row(
            "D_A(i,k) = (x_i - x_k)^T A (x_i - x_k)",
            r"D_A(i,k) = (\mathbf{x}_i - \mathbf{x}_k)^T A (\mathbf{x}_i - \mathbf{x}_k)",
            "D_i = ",
        ),
        Row(
            "alone in its class: not an i, but a k",
            r"\text{a point alone in its class is not an } i, \text{ but a } k",
            "if not same",
        ),
    ),
    "literal",
)
DUAL = Section(
    "its dual",
    (
        Row(
            "max over q:  sum_i H(q_i),  H(q_i) = - sum_{k != i} q_ik log q_ik",
            r"\max_{q}\ \sum_i H(q_i), \quad H(q_i) = - \sum_{k \ne i} q_{ik} \log q_{ik}",
            "return cp.Problem(",
        ),
        Row(
            "for every i:  sum_{k != i} q_ik = 1",
            r"\sum_{k \ne i} q_{ik} = 1 \quad \text{for every } i",
            "return cp.Problem(",
        ),
        Row("q_ik >= 0 for k != i", r"q_{ik} \ge 0 \quad (k \ne i)", "q = cp.Variable("),
        Row(
            "sum_ij (p0(j|i) - q_ij) X_ij psd",
            r"\sum_{i,j} (p_0(j | i) - q_{ij}) X_{ij} \succeq 0",
            "surplus = surplus + ",
        ),
        Row(
            "X_ij = (x_i - x_j)(x_i - x_j)^T",
            r"X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T",
            "pulled, pushed = ",
        ),
    ),
    "dual",
)
PROVED = Section(
    "what is proved",
    (
        Row(
            "any feasible q gives a lower bound;   q = p_A at the optimum",
            r"\text{any feasible } q \text{ gives a lower bound;} \quad q = p_A \text{ at the optimum}",
        ),
    ),
)
STATEMENT = Statement((PRINTED, PROBLEM, DUAL, PROVED))
