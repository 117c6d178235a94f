"""Recompute the proof in a file that `cvxml solve --out FILE` wrote. Numpy only; cvxml is not imported.

    python validation/recompute.py FILE        (.json or .npz)

Nothing of the file is believed but the data, the neighbour lists, the metric and the dual variables. With
G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il ) and s_i = sum_j u_ij = sum_l w_il <= 1/n, no metric whatsoever has an
objective below  sum_i s_i - ||P_+(G)||^2 / (2 lam).  Exit code 0 if the gap is at most 1e-6 of lam/2 ||A||^2, else 1.
"""

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


def recompute(content):
    """(objective, lower bound, gap, least eigenvalue of the metric, lam/2 ||A||^2), from the definitions.

    Raises ValueError if the lists are none, the metric is not symmetric or the dual variables are not feasible.
    """
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
        lam = float(content["params"]["lam"])
    except (OSError, KeyError, TypeError, IndexError, ValueError) as error:
        print(f"not proved: {path} holds no proof: {error}")
        return False
    print(f"objective    {objective:.15g}   (the file says {content.get('objective')})")
    print(f"lower bound  {bound:.15g}   (the file says {content.get('lower_bound')})")
    print(f"gap          {gap:.3g}   gap / scale {gap / scale if scale else 0:.3g}")
    print(f"least eigenvalue of the metric {least:.3g}")
    if not np.isfinite([objective, bound, scale]).all() or 1e-15 * (1 + abs(objective)) > 1e-6 * scale:
        print(
            "not decided: the scale is too small, or a number too large, for differences in double precision"
        )
        return False
    psd = least >= -1e-6 * np.sqrt(2 * scale / lam)
    # a bound above the objective, by more than rounding, contradicts itself
    proved = psd and -1e-12 * (1 + abs(objective)) <= gap <= 1e-6 * scale
    print("proved: optimal to 1e-6 of the scale" if proved else "not proved")
    return bool(proved)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(0 if main(sys.argv[1]) else 1)
