"""The mathematics of the other forms in which problem.py has the CCCP step, row by row; the step is in statement.py."""

from __future__ import annotations

from cvxml.statement import Row, Section

OPTIMUM = Section(
    "the optimum of F itself",
    (
        Row(
            "min F = the least optimum of the steps, over all (h*_1, h*_2, ...)",
            r"\min F = \text{ the least optimum of the steps, over all } (h_1^*, h_2^*, \ldots)",
            "for h_star in itertools.product(",
        ),
    ),
    "best_assignment",
)
EVERY = Section(
    "every h",
    (
        Row(
            "every h with |h| = k, x_i not in h",
            r"\text{every } h \text{ with } |h| = k, \ \mathbf{x}_i \notin h",
            "return [list(all_sets(",
        ),
    ),
    "every_set",
)
GENERATED = Section(
    "the same step, with few h",
    (
        Row(
            "only h*_i and the h with <W, Psi(x_i, h)> + Delta(y_i, h) > t_i, until there are none",
            r"\text{only } h_i^* \text{ and the } h \text{ with }"
            r" \langle \mathbf{W}, \Psi(\mathbf{x}_i, h) \rangle + \Delta(y_i, h) > t_i \text{, until there are none}",
            "if h not in sets[i] and",
        ),
    ),
    "generated",
)
BLOCKS = Section(
    "the same step, of polynomial size",
    (
        Row(
            "min over W, t and u, v, w, s of every block:  ||W||^2 + C sum_i t_i - C <W, P>",
            r"\min_{\mathbf{W},\, t,\, u,\, v,\, w,\, s}\ \lVert \mathbf{W} \rVert_F^2 + C \sum_i t_i"
            r" - C \langle \mathbf{W}, P \rangle",
            "return cp.Problem(cp.Minimize(",
        ),
        Row("W psd", r"\mathbf{W} \succeq 0", "constraints = [W >> 0]"),
        Row(
            "D_j = D_W(x_i, x_j)",
            r"D_j = D_{\mathbf{W}}(\mathbf{x}_i, \mathbf{x}_j)",
            "D = [cp.hstack(",
        ),
        Row(
            "for every i, class r and number m of its votes: t_i >= Lam(y_i, r) + m u + (k - m) v"
            " + m sum_{c != r} w_c + sum_j s_j",
            r"t_i \ge \Lambda(y_i, r) + m u + (k - m) v + m \sum_{c \ne r} w_c + \sum_j s_j"
            r" \quad \text{for every } i, r, m",
            "constraints += [t[i] >= Lam[y[i], r]",
        ),
    ),
    "polynomial",
)
BLOCK = Section(
    "one block, for i, r and m",
    (
        Row("u + s_j >= -D_j for j in r", r"u + s_j \ge -D_j \quad (j \in r)", "value, rows = "),
        Row(
            "m = k: no v, no w, and s only in r",
            r"m = k: \text{ no } v, \text{ no } w, \text{ and } s \text{ only in } r",
            "if m == k",
        ),
        Row("w_c >= 0", r"w_c \ge 0", "w = cp.Variable("),
        Row("s_j >= 0", r"s_j \ge 0", "s = cp.Variable(D[r].size"),
        Row(
            "v + w_c + s_j >= -D_j for j in c != r",
            r"v + w_c + s_j \ge -D_j \quad (j \in c \ne r)",
            "rows += [v + w + s >= -D[c]]",
        ),
    ),
    "largest_score",
)
VOTES = Section(
    "the m that a set can have",
    (
        Row(
            "1 <= m <= min(k, n_r),  n_c points of class c without i",
            r"1 \le m \le \min(k, n_r), \quad n_c \text{ points of class } c \text{ without } i",
            "return [m for m in range(1",
        ),
        Row(
            "k - m <= sum_{c != r} min(m, n_c)",
            r"k - m \le \sum_{c \ne r} \min(m, n_c)",
            "room = ",
        ),
    ),
    "votes_of",
)
FORMS = (OPTIMUM, EVERY, GENERATED, BLOCKS, BLOCK, VOTES)
