"""The mathematics of NCA (note 004, which numbers no equation), row by row beside problem.py."""

from __future__ import annotations

from cvxml.statement import Row, Section, Statement

PROBLEM = Section(
    "the problem, which is not convex in A",
    (
        Row(
            "min over A (m, d):  -f(A) = - sum_i p_i   or   -g(A) = - sum_i log p_i",
            r"\min_{A \in \mathbb{R}^{m \times d}}\ {-f}(A) = - \sum_i p_i"
            r" \quad \text{or} \quad {-g}(A) = - \sum_i \log p_i",
        ),
        Row(
            "p_ij = exp(-|A x_i - A x_j|^2) / sum_{k != i} exp(-|A x_i - A x_k|^2),   p_ii = 0",
            r"p_{ij} = \frac{\exp(-\lVert A x_i - A x_j \rVert^2)}"
            r"{\sum_{k \ne i} \exp(-\lVert A x_i - A x_k \rVert^2)}, \quad p_{ii} = 0",
        ),
        Row(
            "p_i = sum_j s_ij p_ij,   s_ij = 1 for another j of the class of i, else 0; or a similarity",
            r"p_i = \sum_j s_{ij} p_{ij}, \quad s_{ij} = 1 \text{ for another } j"
            r" \text{ of the class of } i, \text{ else } 0 \text{; or a similarity}",
        ),
        Row(
            "in Q = A^T A a difference of convex functions, X_ij = (x_i - x_j)(x_i - x_j)^T:",
            r"\text{in } Q = A^T A \text{ a difference of convex functions, with }"
            r" X_{ij} = (x_i - x_j)(x_i - x_j)^T \text{:}",
        ),
        Row(
            "-g = sum_i [ log sum_{k != i} e^-<Q, X_ik> - log sum_j s_ij e^-<Q, X_ij> ]",
            r"-g = \sum_i \Bigl[ \log \sum_{k \ne i} e^{-\langle Q, X_{ik} \rangle}"
            r" - \log \sum_j s_{ij} e^{-\langle Q, X_{ij} \rangle} \Bigr]",
        ),
    ),
)
STEP = Section(
    "the convex step of CCCP, at Q0",
    (
        Row(
            "min over Q: sum_i c_i [ log sum_{k != i} e^-<Q, X_ik> + sum_j w_ij <Q, X_ij> ] + const",
            r"\min_{Q}\ \sum_i c_i \Bigl[ \log \sum_{k \ne i} e^{-\langle Q, X_{ik} \rangle}"
            r" + \sum_j w_{ij} \langle Q, X_{ij} \rangle \Bigr] + \mathrm{const}",
            "terms.append(",
        ),
        Row("Q psd", r"Q \succeq 0", "return cp.Problem(cp.Minimize(sum(terms) + constant)"),
        Row(
            "<Q, X_ik> = (x_i - x_k)^T Q (x_i - x_k)",
            r"\langle Q, X_{ik} \rangle = (x_i - x_k)^T Q (x_i - x_k)",
            "distances = cp.sum(",
        ),
        Row(
            "i without a positive s_ij: left out",
            r"i \text{ without a positive } s_{ij} \text{: left out}",
            "if not (s[i] > 0).any()",
        ),
    ),
    "step",
)
DUAL = Section(
    "its dual",
    (
        Row(
            "max over q:  sum_i c_i H(q_i) + const,\nH(q_i) = - sum_{k != i} q_ik log q_ik",
            r"\max_{q}\ \sum_i c_i H(q_i) + \mathrm{const}, \quad H(q_i) = - \sum_{k \ne i} q_{ik} \log q_{ik}",
            "entropy = ",
        ),
        Row("q_ik >= 0 for k != i", r"q_{ik} \ge 0 \quad (k \ne i)", "q = cp.Variable("),
        Row(
            "for every i:  sum_{k != i} q_ik = 1",
            r"\sum_{k \ne i} q_{ik} = 1 \quad \text{for every } i",
            "return cp.Problem(",
        ),
        Row(
            "sum_ij c_i (w_ij - q_ij) X_ij psd",
            r"\sum_{i,j} c_i (w_{ij} - q_{ij}) X_{ij} \succeq 0",
            "surplus = surplus + ",
        ),
    ),
    "dual",
)
AT = Section(
    "c, w and the constant, with p at Q0",
    (
        Row(
            "c_i = p_i for f,  c_i = 1 for g",
            r"c_i = p_i \text{ for } f, \quad c_i = 1 \text{ for } g",
            "c[i] = ",
        ),
        Row("w_ij = s_ij p_ij / p_i", r"w_{ij} = s_{ij} p_{ij} / p_i", "log_w = "),
        Row(
            "const = sum_i c_i sum_j w_ij log(w_ij / s_ij)",
            r"\mathrm{const} = \sum_i c_i \sum_j w_{ij} \log(w_{ij} / s_{ij})",
            "constant += c[i]",
        ),
        Row(
            "for f also + sum_i ( p_i log p_i - p_i )",
            r"\text{for } f \text{ also } + \sum_i ( p_i \log p_i - p_i )",
            "constant += p *",
        ),
    ),
    "at",
)
PAIRS = Section(
    "where every class has two points: no step",
    (
        Row(
            "min over Q:  -g = sum_i [ <Q, X_ij(i)> + log sum_{k != i} e^-<Q, X_ik> ]",
            r"\min_{Q}\ {-g} = \sum_i \Bigl[ \langle Q, X_{i j(i)} \rangle"
            r" + \log \sum_{k \ne i} e^{-\langle Q, X_{ik} \rangle} \Bigr]",
            "terms.append(",
        ),
        Row("Q psd", r"Q \succeq 0", "return cp.Problem(cp.Minimize(sum(terms)),"),
        Row(
            "j(i): the other of the class of i",
            r"j(i) \text{: the other point of the class of } i",
            "for i in range(n)",
        ),
        Row(
            "<Q, X_ik> = (x_i - x_k)^T Q (x_i - x_k)",
            r"\langle Q, X_{ik} \rangle = (x_i - x_k)^T Q (x_i - x_k)",
            "distances = [",
        ),
    ),
    "pairs",
)
PROVED = Section(
    "what is proved",
    (
        Row(
            "any feasible q gives a lower bound on the step",
            r"\text{any feasible } q \text{ gives a lower bound on the step}",
        ),
        Row(
            "the step is -f or -g at Q0, and nowhere below it",
            r"\text{the step is } {-f} \text{ or } {-g} \text{ at } Q_0 \text{, and nowhere below it}",
        ),
    ),
)
STATEMENT = Statement((PROBLEM, STEP, DUAL, AT, PAIRS, PROVED))
