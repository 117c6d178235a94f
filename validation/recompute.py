"""Recompute the proof in a file that `cvxml solve --out FILE` wrote. Numpy only; cvxml is not imported.

    python validation/recompute.py FILE        (.json or .npz)

Nothing of the file is believed but the data, the neighbour lists, the metric and the dual variables. With
G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il ) and s_i = sum_j u_ij = sum_l w_il <= 1/n, no metric whatsoever has an
objective below  sum_i s_i - ||P_+(G)||^2 / (2 lam).  Exit code 0 if the gap is at most 1e-6 of lam/2 ||A||^2, else 1.

For ssvm, which is not convex, the same of the metric's own convex step: with h*_i the cheapest set in which the class
of i wins, and weights q >= 0 of sum 1 for each point, the step is nowhere below  C sum q Delta - ||P_+(M)||^2 / 4,
M = C sum_i ( sum_h q_ih sum_{j in h} X_ij - sum_{j in h*_i} X_ij ).  Exit code 0 if the gap is at most 1e-6 of ||W||^2.

A file of the solver "global" holds a tree: each branch (i, j, a, b) goes to row a where j is in h*_i and to row b where
it is not. In a leaf, with Y_i the sum of X_ij over the j that every winning set left for i has, any q >= 0 with
sum_h q_ih <= 1, and any nu >= 0 on triples where j is in h*_i, l is not and could take its place, bound F by
C sum q Delta - ||P_+(M)||^2 / 4, M = C sum q (sum_{j in h} X_ij - Y_i) - sum nu (X_ij - X_il).  All winning sets are
listed here, so this is for tiny n.

For glml with one Gaussian a class, at each query: with B = sum_{i<j} p_i p_j (p_j - p_i)(G_i - G_j) over its norm, and
B or -B positive definite, no metric of determinant 1 has (tr A^-1 B)^2 below
D u - D u log(u/|y|) + u log|det B| - y^2/4; else below 0. Exit code 0 if at every query the gap is at most 1e-6 of the
best such bound, or |tr A^-1 B| of ||A^-1||.

For nca, the same of the metric's own convex step. With p_ij at the metric, w_ij = s_ij p_ij / p_i, and c_i = 1 (for g)
or p_i (for f), any rows q_i of the simplex for which Z = sum c_i (w_ij - q_ij) X_ij is psd bound the step by its
constant plus sum c_i H(q_i). In the file q = (1 - theta) softmax(-<R, X>) + theta softmax(-<interior, X>). Where each
point has one partner, this bounds every metric. Exit code 0 if the gap is at most 1e-6 of the scale:
the distance of the objective from the bound that p_i <= max_j s_ij gives, or from where multiples tend if that is less.

For the others, with X_ij = (x_i - x_j)(x_i - x_j)^T, no metric whatsoever has an objective below

lmnn      sum lambda, for 0 <= lambda <= mu with (1 - mu) sum X_ij + sum lambda_ijl (X_ij - X_il) psd; for the squared
          hinge sum lambda - sum lambda^2 / (4 mu), lambda of any size
itml      log det(A_0 Z) + gamma sum_S log(1 - lambda u/gamma) + gamma sum_D log(1 + lambda l/gamma), for lambda >= 0,
          lambda_S < gamma/u, Z = A_0^-1 + sum_S lambda X_ij - sum_D lambda X_ij positive definite
mmc       -sqrt(mu sum 1/c), for c > 0, mu the largest eigenvalue of sum_D c X_ij relative to S = sum_S X_ij;
          diagonal: the largest ratio of their diagonal entries
dml_eig   minus the largest eigenvalue of sum_D q X_ij relative to S, for q of the simplex
mcml      sum_i H(q_i), for rows q_i of the simplex with sum (w_ij - q_ij) X_ij psd, w_ij = 1/(n_c - 1) in the class

where S and D are the similar and the dissimilar pairs, H the entropy; psd is to rounding, each feature in its own unit
(lmnn: once s times (1 - mu) sum X_ij is added, s at most 1e-6; the bound is then less by s times the objective).
Exit code 0 if the gap is at most 1e-6 of the objective.
"""

import itertools
import json
import sys

import numpy as np


def require(holds, otherwise):
    """Refuse the file unless `holds`; an assert would be void under python -O."""
    if not holds:
        raise ValueError(otherwise)


def read(path):
    """The stored fields, from either format."""
    if not path.endswith(".npz"):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    with np.load(path, allow_pickle=False) as arrays:
        content = json.loads(str(arrays["header"]))
        ends = np.cumsum(arrays["neighbor_counts"])[:-1]
        content["neighbors"] = [part.tolist() for part in np.split(arrays["neighbors"], ends)]
        content["dual"] = {key[5:]: arrays[key].tolist() for key in arrays.files if key.startswith("dual_")}
        content |= {key: arrays[key] for key in ("X", "y", "metric")}
    return content


def points_and_metric(content):
    """The points the metric acts on: X and A, or for a kernel the rows of K^(1/2) and K^(1/2) phi K^(1/2)."""
    X, M, params = np.array(content["X"], float), np.array(content["metric"], float), content["params"]
    if content["method"] == "mlsvm":
        return X, M
    require(content["method"] == "kernel_mlsvm", f"the method {content['method']!r} is not known here")
    require(params["kernel"] in ("poly", "rbf"), f"the kernel {params['kernel']!r} is not known here")
    if params["kernel"] == "poly":
        K = (X @ X.T) ** params["degree"]
    else:
        gamma = params["gamma"] or 1 / X.shape[1]
        K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return root, root @ M @ root


def neighbor_lists(content):
    """N(i) as lists: one a point, of other points, each of them once."""
    lists, n = content["neighbors"], len(content["X"])
    require(len(lists) == n, f"there are {len(lists)} neighbour lists for {n} points")
    for i, listed in enumerate(lists):
        require(i not in listed, f"the neighbour list of {i} holds the point itself")
        require(len(set(listed)) == len(listed), f"the neighbour list of {i} holds a point twice")
        require(all(j in range(n) for j in listed), f"the neighbour list of {i} leaves 0..{n - 1}")
    return lists


def prices(content, lists):
    """All (sign, i, j, value): 1 and u_ij for impostors, -1 and w_il for targets, each >= 0 and on the lists."""
    y, found = content["y"], []
    for name, sign in (("u", 1), ("w", -1)):
        for (i, j), value in zip(content["dual"][f"{name}_index"], content["dual"][name], strict=True):
            require(i in range(len(lists)) and j in lists[i], f"{i}, {j} is not a pair of neighbours")
            require((y[i] != y[j]) == (sign > 0), f"{i}, {j} is the wrong kind of pair for {name}")
            require(value >= 0, f"{name} of {i}, {j} is negative or no number")
            found.append((sign, int(i), int(j), value))
    return found


def splits(votes, sizes):
    """All ways to give that many votes to classes that have at most so many points."""
    if not sizes:
        return [()] if votes == 0 else []
    return [(m, *rest) for m in range(min(votes, sizes[0]) + 1) for rest in splits(votes - m, sizes[1:])]


def task_loss(costs, counts):
    """Of the classes tied for most votes, the one that costs most."""
    return max(cost for cost, m in zip(costs, counts, strict=True) if m == max(counts))


def recompute_ssvm(content):
    """As `recompute`: of the convex step of gerrymandering at the metric, or of all F; the last is ||W||^2."""
    X, y, W, params = (
        np.array(content["X"], float),
        content["y"],
        np.array(content["metric"], float),
        content["params"],
    )
    k, C, Lam, n = params["n_neighbors"], float(params["C"]), np.array(params["loss_matrix"], float), len(X)
    R = len(Lam)
    require(C > 0 and k in range(1, n) and len(y) == n, "C, n_neighbors or the number of labels is wrong")
    require(all(c in range(R) for c in y), "a label is no row of loss_matrix")
    require(
        Lam.shape == (R, R) and (Lam[~np.eye(R, dtype=bool)] > 0).all() and not np.diag(Lam).any(),
        "no loss_matrix",
    )
    require(not np.abs(W - W.T).max() > 1e-6 * np.linalg.norm(W), "the metric is not symmetric")
    P, losses = np.zeros_like(W), 0.0
    for i in range(n):
        D = [(X[i] - x) @ W @ (X[i] - x) for x in X]
        near = [
            sorted((j for j in range(n) if y[j] == c and j != i), key=lambda j: D[j])[:k] for c in range(R)
        ]
        # the sets of some numbers of votes that cost least: the nearest points of each class
        sets = [
            (v, [j for c in range(R) for j in near[c][: v[c]]]) for v in splits(k, [len(c) for c in near])
        ]
        wins = [h for v, h in sets if all(v[y[i]] > v[c] for c in range(R) if c != y[i])]
        require(wins, f"the class of point {i} cannot win")
        latent = min(wins, key=lambda h: sum(D[j] for j in h))
        worst = max(task_loss(Lam[y[i]], v) - sum(D[j] for j in h) for v, h in sets)
        losses += worst + sum(D[j] for j in latent)
        P += sum(np.outer(X[i] - X[j], X[i] - X[j]) for j in latent)
    objective = (W**2).sum() + C * losses
    bound = (tree_bound if "tree" in content["dual"] else step_bound)(X, y, k, C, Lam, content["dual"], P)
    return objective, bound, objective - bound, np.linalg.eigvalsh((W + W.T) / 2)[0], (W**2).sum()


def step_bound(X, y, k, C, Lam, dual, P):
    """The bound of the step with sum_i sum_{j in h*_i} X_ij = P."""
    n, R = len(X), len(Lam)
    M, bound, total = -C * P, 0.0, np.zeros(n)
    for (i, *h), q in zip(dual["q_index"], dual["q"], strict=True):
        proper = len(set(h)) == len(h) == k and i not in h and all(j in range(n) for j in (i, *h))
        require(proper, f"{h} is no set of {k} others of {i}")
        require(q >= 0, f"the weight of {i}, {h} is negative or no number")
        i, h = int(i), [int(j) for j in h]
        total[i] += q
        bound += C * q * task_loss(Lam[y[i]], [sum(y[j] == c for j in h) for c in range(R)])
        M += C * q * sum(np.outer(X[i] - X[j], X[i] - X[j]) for j in h)
    require(np.allclose(total, 1, rtol=1e-12, atol=0), "the weights of a point do not add up to 1")
    return bound - (np.maximum(np.linalg.eigvalsh(M), 0) ** 2).sum() / 4


def tree_bound(X, y, k, C, Lam, dual, P):
    """The least bound of the leaves of the tree."""
    n, R = len(X), len(Lam)

    def counts(h):
        return [sum(y[j] == c for j in h) for c in range(R)]

    def wins(i, h):
        return all(counts(h)[y[i]] > m for c, m in enumerate(counts(h)) if c != y[i])

    def outer(i, j):
        return np.outer(X[i] - X[j], X[i] - X[j])

    def bound_of(leaf, left):
        inside = [set.intersection(*listed) for listed in left]
        outside = [set(range(n)) - set.union(*listed) - {i} for i, listed in enumerate(left)]
        M, bound, total = np.zeros((X.shape[1], X.shape[1])), 0.0, np.zeros(n)
        for (at, i, *h), q in zip(dual["q_index"], dual["q"], strict=True):
            if at == leaf:
                require(
                    q >= 0 and len(set(h)) == k and i not in h and set(h) <= set(range(n)),
                    "no set, or no weight",
                )
                total[i] += q
                bound += C * q * task_loss(Lam[y[i]], counts(h))
                M += C * q * (sum(outer(i, j) for j in h) - sum(outer(i, j) for j in inside[i]))
        for (at, i, j, other), nu in zip(dual["nu_index"], dual["nu"], strict=True):
            if at == leaf:
                require(
                    nu >= 0 and j in inside[i] and other in outside[i], "no exchange, or a negative price"
                )
                require(y[other] in (y[j], y[i]), f"{other} could not take the place of {j}")
                M -= nu * (outer(i, j) - outer(i, other))
        require((total <= 1 + 1e-12).all(), "the weights of a point add up to more than 1")
        return bound - (np.maximum(np.linalg.eigvalsh(M), 0) ** 2).sum() / 4

    def below(row, left):
        if not all(left):
            return np.inf
        i, j, yes, no = (int(v) for v in dual["tree"][row])
        if i < 0:
            return bound_of(row, left)
        require(yes > row and no > row, "the tree turns back")
        parts = ([h for h in left[i] if j in h], [h for h in left[i] if j not in h])
        return min(
            below(to, [*left[:i], part, *left[i + 1 :]]) for to, part in zip((yes, no), parts, strict=True)
        )

    others = [[j for j in range(n) if j != i] for i in range(n)]
    return below(0, [[set(h) for h in itertools.combinations(others[i], k) if wins(i, h)] for i in range(n)])


def local_B(X, y, x, alpha, priors):
    """B over its norm, from Gaussians with covariances by 1/n plus alpha; two classes: G_1 - G_2 up to its sign."""
    logs, G = [], []
    for c in range(max(y) + 1):
        points = X[np.array(y) == c]
        mu = points.mean(axis=0)
        Sigma = (points - mu).T @ (points - mu) / len(points) + alpha * np.eye(len(x))
        pull = np.linalg.solve(Sigma, x - mu)
        logs.append(np.log(priors[c]) - np.linalg.slogdet(Sigma)[1] / 2 - (x - mu) @ pull / 2)
        G.append(np.outer(pull, pull) - np.linalg.inv(Sigma))
    pairs = [(i, j) for j in range(len(G)) for i in range(j) if logs[i] != logs[j] or len(G) == 2]
    if len(G) == 2:
        B = G[0] - G[1]
    else:
        low = [min(logs[i], logs[j]) for i, j in pairs]
        high = [max(logs[i], logs[j]) for i, j in pairs]
        size = [a + 2 * b + np.log(-np.expm1(a - b)) for a, b in zip(low, high, strict=True)]
        B = np.zeros_like(G[0])
        for (i, j), s in zip(pairs, size, strict=True):
            B += np.exp(s - max(size)) * np.sign(logs[j] - logs[i]) * (G[i] - G[j])
    return B / max(np.linalg.norm(B), 1e-300)


def recompute_local(content):
    """As `recompute`, summed over the queries; gap is |tr A^-1 B| where the bound is 0."""
    params, y = content["params"], list(content["y"])
    X, Q, A = (np.array(v, float) for v in (content["X"], params["query"], content["metric"]))
    require(params["model"] == "gaussian", f"the model {params['model']!r} is not known here")
    counts = [y.count(c) for c in range(max(y) + 1)]
    priors = counts if params["priors"] == "empirical" else params["priors"] or [1.0] * len(counts)
    require(min(priors) > 0 and len(priors) == len(counts), "the priors are not positive, one a class")
    Q, A = (Q, A) if Q.ndim == 2 else (Q[None], A[None])
    require(
        len(Q) == len(A) == len(content["dual"]["y"]) == len(content["dual"]["u"]), "not one metric a query"
    )
    d, rows = X.shape[1], []
    for x, metric, v, u in zip(Q, A, content["dual"]["y"], content["dual"]["u"], strict=True):
        B = local_B(X, y, x, float(params["alpha"]), np.array(priors, float))
        values, least = np.linalg.eigvalsh(B), np.linalg.eigvalsh((metric + metric.T) / 2)
        require(
            not np.abs(metric - metric.T).max() > 1e-6 * np.linalg.norm(metric), "a metric is not symmetric"
        )
        require(least[0] > 0 and abs(np.log(least).sum()) <= 1e-6 * d, "the determinant of a metric is not 1")
        M = np.linalg.inv(metric)
        t, bound = np.trace(M @ B), 0.0
        definite = values[0] > 1e-12 or values[-1] < -1e-12
        gap, scale = abs(t), np.linalg.norm(M)
        if definite:
            scale = (d * np.exp(np.log(np.abs(values)).mean())) ** 2
            require(u > 0 and v != 0, "y or u is not positive")
            # the sign of y only says whether B or -B is meant
            bound = d * u - d * u * np.log(u / abs(v)) + u * np.log(np.abs(values)).sum() - v * v / 4
            gap = t * t - max(bound, 0.0)
        rows.append((t * t, max(bound, 0.0), gap, least[0], scale))
    objective, bound, gap, _, scale = np.sum(rows, axis=0)
    worst = max(row[2] / row[4] for row in rows)
    return objective, bound, gap, min(row[3] for row in rows), gap / worst if worst > 0 else scale


def softmax(X, M, i):
    """The row i of softmax(-<M, X_ik>) over k != i, and the distances."""
    D = np.array([(X[i] - x) @ M @ (X[i] - x) for x in X])
    e = np.exp(-(D - np.delete(D, i).min()))
    e[i] = 0.0
    return e / e.sum(), D


def entropy(q):
    """- sum q log q."""
    q = q[q > 0]
    return -(q * np.log(q)).sum()


def recompute_nca(content):
    """As `recompute`, of the convex step at the metric."""
    X, Q, params = np.array(content["X"], float), np.array(content["metric"], float), content["params"]
    n, d = X.shape
    require(
        params["n_components"] >= d,
        "the rank is limited: nothing bounds such a metric, and the file holds no dual",
    )
    y = np.array(content["y"])
    s = (
        (y[:, None] == y) * (1.0 - np.eye(n))
        if params["similarity"] is None
        else np.array(params["similarity"], float)
    )
    require(s.shape == (n, n) and (s >= 0).all() and not np.diag(s).any(), "no similarity")
    require(not np.abs(Q - Q.T).max() > 1e-6 * np.linalg.norm(Q), "the metric is not symmetric")
    require(len(content["dual"]["theta"]) == 1, "nothing made its rows feasible")
    theta = float(content["dual"]["theta"][0])
    require(0 <= theta <= 1, "theta is no share")
    matrices = [np.array(content["dual"][name], float) for name in ("R", "interior")]
    accuracy, objective, bound, trivial, limit = params["criterion"] == "f", 0.0, 0.0, 0.0, 0.0
    Z = np.zeros((d, d))
    for i in np.flatnonzero(s.any(axis=1)):
        p, D = softmax(X, Q, i)
        p_i = s[i] @ p
        require(p_i > 0, f"the probability of point {i} underflows")
        w, c, value = s[i] * p / p_i, p_i if accuracy else 1.0, p_i if accuracy else np.log(p_i)
        q = (1 - theta) * softmax(X, matrices[0], i)[0] + theta * softmax(X, matrices[1], i)[0]
        kept = w > 0
        bound += (
            c * (entropy(q) + (w[kept] * np.log(w[kept] / s[i][kept])).sum())
            + (p_i * np.log(p_i) - p_i) * accuracy
        )
        objective -= value
        trivial -= s[i].max() if accuracy else np.log(s[i].max())
        D[i] = np.inf
        nearest = s[i][D.min() * (1 + 1e-9) + 1e-14 >= D].mean()
        with np.errstate(divide="ignore"):
            limit -= nearest if accuracy else np.log(nearest)
        Z += (X[i] - X).T @ ((c * (w - q))[:, None] * (X[i] - X))
    require(
        np.linalg.eigvalsh(Z)[0] >= -1e-13 * np.abs(X - X[0]).max() ** 2 * n, "the rows leave the dual cone"
    )
    scale = min(objective - trivial, abs(objective - limit)) if Q.any() else objective - trivial
    return objective, bound, objective - bound, np.linalg.eigvalsh((Q + Q.T) / 2)[0], scale


def own_units(content):
    """X and the metric, the nearest that is psd, with every feature in a unit of its own; and this unit."""
    X, A = np.array(content["X"], float), np.array(content["metric"], float)
    require(X.ndim == 2 and A.shape == (X.shape[1],) * 2, "X or the metric has another shape")
    X = X - X[0]
    unit = np.abs(X).max(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    A = A * np.outer(unit, unit)
    require(not np.abs(A - A.T).max() > 1e-6 * np.linalg.norm(A), "the metric is not symmetric")
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    require(values[0] >= -1e-6 * np.linalg.norm(A), "the metric is not psd")
    return X / unit, (vectors * np.maximum(values, 0)) @ vectors.T, unit


def squared(E, A):
    """e^T A e of every row of E."""
    return np.maximum(((E @ A) * E).sum(axis=1), 0)


def outer_sum(E, w):
    """sum w e e^T over the rows of E."""
    return E.T @ (np.asarray(w, float)[:, None] * E)


def require_psd(Z, size):
    """To the rounding of sums of this size."""
    require(np.linalg.eigvalsh(Z)[0] >= -1e-13 * size, "the prices leave the dual cone")


def numbers(content, name, count):
    """A dual variable: `count` finite numbers."""
    values = np.array(content["dual"][name], float)
    require(values.shape == (count,) and np.isfinite(values).all(), f"{name} is not {count} numbers")
    return values


def index_rows(rows, width, n, what):
    """Rows of that many indices, no row twice, as an array."""
    require(all(len(row) == width and all(i in range(n) for i in row) for row in rows), f"no {what}")
    require(len(set(map(tuple, rows))) == len(rows), f"one of the {what} is there twice")
    return np.array(rows, int).reshape(-1, width)


def pair_differences(content, X):
    """x_i - x_j of the similar and of the dissimilar pairs: those given, or every two points, by their labels."""
    y, n = content["y"], len(X)
    pairs = content["params"]["pairs"]
    if pairs is None:
        require(len(y) == n, f"there are {len(y)} labels for {n} points")
        every = list(itertools.combinations(range(n), 2))
        pairs = {"similar": [(i, j) for i, j in every if y[i] == y[j]]}
        pairs["dissimilar"] = [(i, j) for i, j in every if y[i] != y[j]]
    index = [index_rows(pairs[kind], 2, n, "pairs of points") for kind in ("similar", "dissimilar")]
    require(not any((i == j).any() for i, j in (rows.T for rows in index)), "a pair is a point with itself")
    return [X[i] - X[j] for i, j in (rows.T for rows in index)]


def recompute_lmnn(content):
    """As `recompute`, the last of them |objective|; so are those below."""
    (X, M, _), y, mu = own_units(content), np.array(content["y"]), float(content["params"]["mu"])
    hinge, n = content["method"] == "lmnn", len(X)
    lists = neighbor_lists({"X": X, "neighbors": content["params"]["targets"]})
    require(0 < mu < 1 and len(y) == n, "mu or the number of labels is wrong")
    targets = np.array([(i, j) for i, listed in enumerate(lists) for j in listed], int).reshape(-1, 2)
    require((y[targets[:, 0]] == y[targets[:, 1]]).all(), "a target is of another class")
    pull, push, count = 0.0, 0.0, 0
    for i, j in targets:
        D, others = squared(X[i] - X, M), y != y[i]
        xi = np.maximum(0, 1 + D[j] - D[others])
        pull, push, count = pull + D[j], push + (xi if hinge else xi**2).sum(), count + len(xi)
    price = numbers(content, "price", len(content["dual"]["triplets"]))
    i, j, k = index_rows(content["dual"]["triplets"], 3, n, "triplets").T
    require(all(b in lists[a] for a, b in zip(i, j, strict=True)), "a triplet has a price and no target")
    require((y[k] != y[i]).all(), "a triplet has a price and no impostor")
    require((price >= 0).all() and not (hinge and (price > mu * (1 + 1e-12)).any()), "a price leaves 0 to mu")
    objective = (1 - mu) * pull + mu * push
    bound = price.sum() - (0 if hinge else (price**2).sum() / (4 * mu))
    used = price > 0
    edges = [X[targets[:, 0]] - X[targets[:, 1]], (X[i] - X[j])[used], (X[i] - X[k])[used]]
    bound -= missing_to_psd(*edges, price[used], 1 - mu) * objective
    # where everything can be had at no cost the optimum is 0: a share of what M = 0 costs stands in
    return objective, bound, max(abs(objective), 1e-9 * mu * count)


def missing_to_psd(pairs, near, far, price, weight):
    """The least s >= 0 with Z + s C psd, C = weight sum over the pairs, Z = C + sum price (near near^T - far far^T).

    No metric of at most this objective has <Z, M> below -s objective, since <C, M> is part of the objective. All on the
    range of C: outside no s would do, so a triplet with a price that leaves it, by more than rounding, is no proof.
    """
    values, vectors = np.linalg.eigh(weight * pairs.T @ pairs)
    inside = values > 1e-12 * max(values[-1], 0.0)
    for E in (near, far):
        strayed = ((E @ vectors[:, ~inside]) ** 2).sum(axis=1)
        require((strayed <= 1e-26 * (E**2).sum(axis=1)).all(), "a triplet with a price is where no target is")
    if not inside.any():
        return 0.0
    whiten = vectors[:, inside] / np.sqrt(values[inside])
    Z = outer_sum(pairs @ whiten, np.full(len(pairs), weight))
    Z += outer_sum(near @ whiten, price) - outer_sum(far @ whiten, price)
    s = max(0.0, -float(np.linalg.eigvalsh(Z)[0]))
    require(s <= 1e-6, "the prices leave the dual cone")
    return s


def recompute_itml(content):
    """In features in which the prior is the identity, pairs in units of their bounds."""
    params, (X, A, unit) = content["params"], own_units(content)
    gamma, (u, bound_D) = float(params["gamma"]), params["bounds"]
    require(min(gamma, u, bound_D) > 0, "gamma or a bound is not positive")
    A_0 = np.array(params["prior"], float) * np.outer(unit, unit)
    C = np.linalg.cholesky((A_0 + A_0.T) / 2)
    M = np.linalg.solve(C, np.linalg.solve(C, A).T)
    E_S, E_D = (E @ C / np.sqrt(b) for E, b in zip(pair_differences(content, X), (u, bound_D), strict=True))
    r = np.concatenate([np.maximum(squared(E_S, M), 1), np.minimum(squared(E_D, M), 1)])
    with np.errstate(divide="ignore"):
        slack = (r - 1 - np.log(r)).sum()
    objective = np.trace(M) - np.linalg.slogdet(M)[1] - len(M) + gamma * slack
    q_S, q_D = (
        numbers(content, "lam_S", len(E_S)) * u / gamma,
        numbers(content, "lam_D", len(E_D)) * bound_D / gamma,
    )
    require(
        (q_S >= 0).all() and (q_D >= 0).all() and (q_S < 1).all(), "a price is negative, or gamma/u or more"
    )
    Z = np.eye(len(M)) + gamma * (outer_sum(E_S, q_S) - outer_sum(E_D, q_D))
    values = np.linalg.eigvalsh(Z)
    require(values[0] > 0, "Z is not positive definite")
    bound = np.log(values).sum() + gamma * (np.log1p(-q_S).sum() + np.log1p(q_D).sum())
    return objective, bound, max(abs(objective), 1e-6 * len(M))


def budget(content, diagonal=False):
    """The metric within the budget, the differences of both kinds, and the dissimilar ones where S is the identity."""
    X, A, _ = own_units(content)
    E_S, E_D = pair_differences(content, X)
    _, s, Vt = np.linalg.svd(E_S, full_matrices=False)
    V, s = Vt[s > 1e-13 * s[0]].T, s[s > 1e-13 * s[0]]
    beyond = np.linalg.norm(E_D - E_D @ V @ V.T, axis=1)
    free = beyond > 1e-9 * np.linalg.norm(E_D, axis=1)
    require(diagonal or not free.any(), "a dissimilar pair moves apart at no cost")
    spent = squared(E_S, A).sum()
    require(spent <= 1 + 1e-6, f"the similar pairs spend {spent:.6g}, allowed is 1")
    return A / max(1.0, spent), E_S, E_D, E_D @ V / s


def recompute_mmc(content):
    """A pair of equal points is at distance 0 in every metric, and its c is not looked at."""
    diagonal = content["method"] == "mmc:diagonal"
    if diagonal:
        other = content["metric"] - np.diag(np.diag(content["metric"]))
        require(np.abs(other).max() <= 1e-6 * np.linalg.norm(content["metric"]), "the metric is not diagonal")
    A, E_S, E_D, Z_D = budget(content, diagonal)
    differ = E_D.any(axis=1)
    c = numbers(content, "c", len(E_D))[differ]
    require((c > 0).all(), "a c is not positive")
    if diagonal:
        C, S = c @ E_D[differ] ** 2, (E_S**2).sum(axis=0)
        require((S[C > 0] > 0).all(), "a dissimilar pair moves apart at no cost")
        mu, A = (C[S > 0] / S[S > 0]).max(), np.diag(np.diag(A))
    else:
        mu = np.linalg.eigvalsh(outer_sum(Z_D[differ], c))[-1]
    objective = -np.sqrt(squared(E_D, A)).sum()
    return objective, -np.sqrt(mu * (1 / c).sum()), abs(objective)


def recompute_dml_eig(content):
    """The least squared distance."""
    A, _, E_D, Z_D = budget(content)
    q = numbers(content, "q", len(E_D))
    require((q >= 0).all() and abs(q.sum() - 1) <= 1e-12, "q is not of the simplex")
    objective = -squared(E_D, A).min()
    return objective, -np.linalg.eigvalsh(outer_sum(Z_D, q))[-1], abs(objective)


def recompute_mcml(content):
    """A point that is alone in its class has no row."""
    (X, A, _), y = own_units(content), np.array(content["y"])
    n, q = len(X), np.array(content["dual"]["q"], float)
    require(len(y) == n and q.shape == (n, n), "not one label and one row of q a point")
    objective, bound, Z, size = 0.0, 0.0, np.zeros_like(A), 0.0
    for i in range(n):
        mates, others = (y == y[i]) & (np.arange(n) != i), np.arange(n) != i
        if not mates.any():
            continue
        require(
            (q[i] >= 0).all() and q[i, i] == 0 and abs(q[i].sum() - 1) <= 1e-12, "a row leaves the simplex"
        )
        E, w = X[i] - X, mates / mates.sum()
        D = squared(E, A)
        low = D[others].min()
        objective += w @ D - low + np.log(np.exp(low - D[others]).sum())
        bound += entropy(q[i])
        Z += outer_sum(E, w - q[i])
        size += np.trace(outer_sum(E, w + q[i]))
    require_psd(Z, size)
    return objective, bound, abs(objective)


RELATIVES = {
    "lmnn": recompute_lmnn,
    "lmnn:squared_hinge": recompute_lmnn,
    "itml": recompute_itml,
    "mmc": recompute_mmc,
    "mmc:diagonal": recompute_mmc,
    "dml_eig": recompute_dml_eig,
    "mcml": recompute_mcml,
}


def recompute(content):
    """(objective, lower bound, gap, least eigenvalue of the metric, scale: lam/2 ||A||^2), from the definitions.

    Raises ValueError if the lists are none, the metric is not symmetric or the dual variables are not feasible.
    """
    if content["method"] == "glml":
        return recompute_local(content)
    if content["method"] == "ssvm":
        return recompute_ssvm(content)
    if content["method"] == "nca":
        return recompute_nca(content)
    if content["method"] in RELATIVES:
        objective, bound, scale = RELATIVES[content["method"]](content)
        return objective, bound, objective - bound, np.linalg.eigvalsh(content["metric"])[0], scale
    X, A = points_and_metric(content)
    y, n, lam = np.array(content["y"]), len(X), float(content["params"]["lam"])
    lists = neighbor_lists(content)
    require(lam > 0, f"lam is {lam}, and must be above 0")
    require(len(y) == n, f"there are {len(y)} labels for {n} points")
    require(not np.abs(A - A.T).max() > 1e-6 * np.linalg.norm(A), "the metric is not symmetric")

    # the primal objective, point by point
    slacks = 0.0
    for i, listed in enumerate(lists):
        D = {j: (X[i] - X[j]) @ A @ (X[i] - X[j]) for j in listed}
        targets = [D[j] for j in listed if y[j] == y[i]]
        impostors = [D[j] for j in listed if y[j] != y[i]]
        if targets and impostors:
            slacks += max(0.0, 1 + max(targets) - min(impostors))
    objective = lam / 2 * (A**2).sum() + slacks / n

    # the dual objective: first that (u, w) is feasible, whoever wrote it
    s = {1: np.zeros(n), -1: np.zeros(n)}
    G = np.zeros_like(A)
    for sign, i, j, value in prices(content, lists):
        s[sign][i] += value
        G += sign * value * np.outer(X[i] - X[j], X[i] - X[j])
    require(np.allclose(s[1], s[-1], rtol=1e-12, atol=1e-15), "sum u_i and sum w_i differ")
    require((s[1] <= (1 + 1e-12) / n).all(), "a price is above 1/n")
    positive = np.maximum(np.linalg.eigvalsh(G), 0)
    bound = s[1].sum() - (positive**2).sum() / (2 * lam)
    return objective, bound, objective - bound, np.linalg.eigvalsh((A + A.T) / 2)[0], lam / 2 * (A**2).sum()


def main(path):
    """Print the figures; True if they prove the metric optimal. A file that holds no proof is one line and False."""
    try:
        content = read(path)
        objective, bound, gap, least, scale = recompute(content)
        step = content.get("step_lower_bound") is not None
        # the scale is `weight` times the square of a norm for mlsvm and ssvm, and stands for one in glml and nca
        weight = float(content["params"]["lam"]) / 2 if "lam" in content["params"] else 1.0
        relative = content["method"] in RELATIVES
        norm = np.linalg.norm(content["metric"]) if relative else np.sqrt(scale / weight)
    except (OSError, KeyError, TypeError, IndexError, ValueError) as error:
        print(f"not proved: {path} holds no proof: {error}")
        return False
    print(f"objective    {objective:.15g}   (the file says {content.get('objective')})")
    print(
        f"lower bound  {bound:.15g}   (the file says {content.get('step_lower_bound' if step else 'lower_bound')})"
    )
    print(f"gap          {gap:.3g}   gap / scale {gap / scale if scale else 0:.3g}")
    print(f"least eigenvalue of the metric {least:.3g}")
    if not np.isfinite([objective, bound, scale]).all() or 1e-15 * (1 + abs(objective)) > 1e-6 * scale:
        print(
            "not decided: the scale is too small, or a number too large, for differences in double precision"
        )
        return False
    psd = least >= -1e-6 * norm
    # a bound above the objective, by more than rounding, contradicts itself
    proved = psd and -1e-12 * (1 + abs(objective)) <= gap <= 1e-6 * scale
    what = "stationary: its convex step gains at most" if step else "optimal to"
    print(f"proved: {what} 1e-6 of the scale" if proved else "not proved")
    return bool(proved)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(0 if main(sys.argv[1]) else 1)
