"""Misreadings that many methods share: targets, triplets, pairs or quadruplets that differ from the user's problem.

A misreading is a mistake that explains a refuted metric; `check` names it. For example, a program loses the last pair,
reads indices that count from 0 as indices that count from 1, or uses points of every class as impostors. Each
misreading here is the same method with other explicit lists, so the method's certificate gives the gap of the metric in
it. All other parameters keep the values of the user's problem. This holds also for a prior or basis that the method
computed from the data.

`TRIPLETS`, `PAIRS` and `QUADRUPLETS` are parts of the `MISREADINGS` of the methods with such lists.

Arguments that many functions share. question: the refuted metric with its data and the user's parameters. given: the
checked data. stored: all parameters as explicit values.

told: the end of the sentence about the misreading, which names the changed part. For example, ": all of point 0" means
that all triplets of point 0 are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from cvxml.core.inputs import check_labels, class_names
from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.core.misreading import Misreading, OtherProblem, Question
from cvxml.core.neighbors import k_nearest, squared_euclidean
from cvxml.core.pairs import KINDS
from cvxml.core.targets import nearest_of_class
from cvxml.core.triplets import nearest_of_the_rest

MOST_ROWS = 100_000  # a misreading with more rows in its explicit lists is not tried
MOST_POINTS = 2_000  # misreadings that sort all distances are not tried with more points
# every row of a given list is tried as the lost row; in a longer list only the first and the last row
SEARCHED = 100
MOST_CLASSES = 8  # with more classes, pairs of classes are not tried

Several = Callable[[Question, Any, dict[str, Any]], Iterable[OtherProblem]]


def _codes(question: Question) -> tuple[IntArray, list[str]] | None:
    """Return the labels as codes (n,), and the class names; None without labels of two or more classes."""
    if question.y is None:
        return None
    try:
        return check_labels(question.y, len(np.asarray(question.X))), class_names(question.y)
    except ValueError:  # real targets, or one class
        return None


def _with(
    question: Question, params: dict[str, Any], told: str = "", X: FloatArray | None = None
) -> OtherProblem:
    return OtherProblem(question.X if X is None else X, question.y, params, told=told)


# indices


def counted_from_one(*names: str) -> Misreading:
    """Return the misreading in which the indices of the named lists are counted from 1 instead of 0, or the reverse.

    names: parameters, for example "pairs". The misreading applies only if the user gave one of them. The lists stay
    unchanged. Instead, the rows of X are moved cyclically by one place. Then index i refers to row i - 1 of X. In the
    reverse, it refers to row i + 1; this problem is left out if the index of the last row is in the lists.
    """

    def several(question: Question, given: Any, stored: dict[str, Any]) -> Iterator[OtherProblem]:
        listed = [np.asarray(part).ravel() for part in _parts(question, names)]
        if not listed:
            return
        yield _with(question, stored, ": each index less 1", np.roll(given.X, 1, axis=0))
        if max(part.max(initial=0) for part in listed) < len(given.X) - 1:
            yield _with(question, stored, ": each index plus 1", np.roll(given.X, -1, axis=0))

    return Misreading(
        f"indices of the {' or '.join(names)} counted from 1 instead of 0, or the reverse",
        several=several,
    )


def _parts(question: Question, names: Iterable[str]) -> Iterator[Any]:
    for name in names:
        given = question.params.get(name)
        if given is not None:
            yield from given.values() if isinstance(given, dict) else [given]


# triplets


def _triplets(question: Question, stored: dict[str, Any], rows: Any, told: str = "") -> OtherProblem:
    params = {name: value for name, value in stored.items() if name not in ("targets", "n_neighbors")}
    return _with(question, {**params, "triplets": np.asarray(rows).tolist()}, told)


def by_class(question: Question) -> bool:
    """Return True if the labels decide the targets, because the user gave neither targets nor triplets."""
    return question.params.get("targets") is None and question.params.get("triplets") is None


def _size(given: Any) -> int:
    """Return the number of triplets without listing them, because the list may be too long."""
    counts = given.impostors
    return int(counts.count()) if hasattr(counts, "count") else int(np.count_nonzero(counts))


def _other_targets(
    targets_of: Callable[[Question, Any], IntArray],
    embed: Callable[[Question, Any], FloatArray] | None = None,
) -> Several:
    """Return a function (question, given, stored) that yields the user's problem with other targets of every point.

    It yields no problem if the user gave targets or triplets, if the lists would not change, or if there are more than
    `MOST_POINTS` points.

    targets_of: returns the other targets, pairs (p, 2) of a point and its target.
    embed: returns points (n, d) in another space. The impostors become the nearest points of other classes in this
        space. Without `embed` they stay, and also if every point of another class is an impostor.
    """

    def several(question: Question, given: Any, stored: dict[str, Any]) -> Iterator[OtherProblem]:
        if not by_class(question) or given.n_neighbors is None or len(given.X) > MOST_POINTS:
            return
        targets = targets_of(question, given)
        if "targets" in stored:  # in such methods every point of another class is an impostor
            if not _same(targets, given.targets):
                lists: list[list[int]] = [[] for _ in given.X]
                for i, j in targets.tolist():
                    lists[i].append(j)
                yield _with(question, {**stored, "targets": lists})
            return
        if embed is None:
            first = np.unique(given.targets[:, 0], return_index=True)[1]
            near = given.impostors[first]
        else:
            names = class_names(question.y)
            near = nearest_of_the_rest(embed(question, given), given.y, given.n_neighbors, names)[0]
        rows = _joined(targets, near)
        if not _same(rows, given.triplets()):
            yield _triplets(question, stored, rows)

    return several


def _joined(targets: IntArray, near: np.ndarray) -> IntArray:
    """Return triplets i, j, l (t, 3) for all pairs i, j of `targets` (p, 2) and all l with near[i, l]; near: (n, n)."""
    row, l = np.nonzero(near[targets[:, 0]])
    return np.concatenate([targets[row], l[:, None]], axis=1)


def _same(some: IntArray, others: IntArray) -> bool:
    return some.shape == others.shape and bool((np.unique(some, axis=0) == np.unique(others, axis=0)).all())


def _second_to_last(question: Question, given: Any) -> IntArray:
    k = given.n_neighbors
    pairs, _ = nearest_of_class(given.X, given.y, k + 1, class_names(question.y))
    later: IntArray = pairs.reshape(-1, k + 1, 2)[:, 1:].reshape(-1, 2)
    return later


def _furthest(_: Question, given: Any) -> IntArray:
    D = squared_euclidean(given.X, given.X)
    D[given.y[:, None] != given.y] = -1.0
    np.fill_diagonal(D, -1.0)
    j = np.argsort(-D, axis=1, kind="stable")[:, : given.n_neighbors]
    return np.stack([np.repeat(np.arange(len(D)), j.shape[1]), j.ravel()], axis=1)


def learnt_space(question: Question, given: Any) -> FloatArray:
    """Return the points of `given`, mapped to (n, d) so that their Euclidean distances are those of the refuted metric.

    The metric is projected on the psd cone first. Raises ValueError if the metric is not (d, d).
    """
    if len(question.metric) != given.X.shape[1]:
        raise ValueError("the size of the metric is not the number of features")
    values, vectors = np.linalg.eigh(project_psd(question.metric))
    embedded: FloatArray = given.X @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return embedded


def _nearest_as_learnt(question: Question, given: Any) -> IntArray:
    X = learnt_space(question, given)
    return nearest_of_class(X, given.y, given.n_neighbors, class_names(question.y))[0]


def _any_label(question: Question, given: Any, stored: dict[str, Any]) -> Iterator[OtherProblem]:
    """Yield the problem in which impostors may have any label, including the label of the point.

    The impostors are all other points, or the n_neighbors nearest ones, as in the user's problem. Nothing is yielded if
    the user gave targets or triplets, for more than `MOST_POINTS` points, or for more than `MOST_ROWS` triplets.
    """
    n = len(given.X)
    if not by_class(question) or n > MOST_POINTS:
        return
    near = np.zeros((n, n), dtype=bool)
    if "targets" in stored:
        near[:] = True
    else:
        every = np.arange(n)
        near[every[:, None], k_nearest(given.X, every, every, given.n_neighbors)[0]] = True
    np.fill_diagonal(near, False)
    rows = _joined(given.targets, near)
    if len(rows) <= MOST_ROWS:
        yield _triplets(question, stored, rows)


def _lost_triplets(question: Question, given: Any, stored: dict[str, Any]) -> Iterator[OtherProblem]:
    listed = question.params.get("triplets")
    if listed is not None:
        rows = np.asarray(listed)
        for t in _one_of(len(rows)):
            yield _triplets(question, stored, np.delete(rows, t, axis=0), f": {rows[t].tolist()}")
    elif _size(given) <= MOST_ROWS:
        rows = given.triplets()
        for t in (0, len(rows) - 1):
            yield _triplets(question, stored, np.delete(rows, t, axis=0), f": {rows[t].tolist()}")
        for i in (0, len(given.X) - 1):
            yield _triplets(question, stored, rows[rows[:, 0] != i], f": all of point {i}")


def _one_of(count: int) -> Iterable[int]:
    """Return the indices of the rows that misreadings leave out, one row each, from a list of `count` rows.

    With more than `SEARCHED` rows, these are only the first and the last row; with less than two rows, no row.
    """
    if count < 2:
        return ()
    return range(count) if count <= SEARCHED else (0, count - 1)


def _without_two_classes(question: Question, given: Any, stored: dict[str, Any]) -> Iterator[OtherProblem]:
    labels = _codes(question)
    if labels is None or _size(given) > MOST_ROWS:
        return
    (codes, names), rows = labels, given.triplets()
    for a, b in two_classes(codes):
        between = (np.minimum(*codes[rows[:, [0, 2]]].T) == a) & (np.maximum(*codes[rows[:, [0, 2]]].T) == b)
        if between.any() and not between.all():
            yield _triplets(question, stored, rows[~between], f": {names[a]} and {names[b]}")


def two_classes(codes: IntArray) -> Iterable[tuple[int, int]]:
    """Return every pair of classes of `codes` (n,); empty for at most two classes and for more than `MOST_CLASSES`."""
    count = int(codes.max()) + 1
    return combinations(range(count), 2) if 2 < count <= MOST_CLASSES else ()


TRIPLETS: dict[str, Misreading] = {
    "second_targets": Misreading(
        "targets 2 to k + 1: the nearest point of the class was taken for the point itself",
        several=_other_targets(_second_to_last),
    ),
    "furthest_targets": Misreading(
        "the furthest points of the class as targets, where the method takes the nearest",
        several=_other_targets(_furthest),
    ),
    "learnt_neighbors": Misreading(
        "neighbours in the learnt space, where the method takes those of the features",
        several=_other_targets(_nearest_as_learnt, learnt_space),
    ),
    "any_label": Misreading(
        "impostors of any label, where the method takes only other classes", several=_any_label
    ),
    "from_one": counted_from_one("triplets"),
    "lost": Misreading("one triplet lost, or all triplets of one point", several=_lost_triplets),
    "class_pair": Misreading("one pair of classes left out of the triplets", several=_without_two_classes),
}


# pairs


def _pairs(
    question: Question, stored: dict[str, Any], kind: str, rows: IntArray, others: IntArray, told: str
) -> OtherProblem:
    """Return the user's problem with `rows` as the pairs of `kind`, and `others` as the pairs of the other kind.

    kind: "similar" or "dissimilar".
    """
    other = KINDS[1 - KINDS.index(kind)]
    return _with(question, {**stored, "pairs": {kind: rows.tolist(), other: others.tolist()}}, told)


def _listed(given: Any) -> dict[str, IntArray]:
    return {kind: getattr(given.pairs, kind) for kind in KINDS}


def _lost_pairs(question: Question, given: Any, stored: dict[str, Any]) -> Iterator[OtherProblem]:
    if given.by_labels and len(given.X) * (len(given.X) - 1) // 2 > MOST_ROWS:
        return
    listed = _listed(given)
    for kind in KINDS:
        rows, others = listed[kind], listed[KINDS[1 - KINDS.index(kind)]]
        for t in (0, len(rows) - 1) if given.by_labels else _one_of(len(rows)):
            if len(rows) > 1:
                told = f": the {kind} pair {rows[t].tolist()}"
                yield _pairs(question, stored, kind, np.delete(rows, t, axis=0), others, told)
    if given.by_labels:
        for i in (0, len(given.X) - 1):
            kept = [listed[kind][(listed[kind] != i).all(axis=1)] for kind in KINDS]
            yield _pairs(question, stored, KINDS[0], kept[0], kept[1], f": all of point {i}")


def _pairs_without_two_classes(
    question: Question, given: Any, stored: dict[str, Any]
) -> Iterator[OtherProblem]:
    labels = _codes(question)
    if labels is None or (given.by_labels and len(given.X) * (len(given.X) - 1) // 2 > MOST_ROWS):
        return
    (codes, names), listed = labels, _listed(given)
    rows = listed["dissimilar"]
    of = np.sort(codes[rows], axis=1)
    for a, b in two_classes(codes):
        between = (of == (a, b)).all(axis=1)
        if between.any() and not between.all():
            told = f": {names[a]} and {names[b]}"
            yield _pairs(question, stored, "dissimilar", rows[~between], listed["similar"], told)


PAIRS: dict[str, Misreading] = {
    "from_one": counted_from_one("pairs"),
    "lost": Misreading("one pair lost, or all pairs of one point", several=_lost_pairs),
    "class_pair": Misreading(
        "one pair of classes left out of the dissimilar pairs", several=_pairs_without_two_classes
    ),
}


# quadruplets


def _quadruplets(
    question: Question, given: Any, stored: dict[str, Any], kept: np.ndarray, told: str
) -> OtherProblem:
    """Return the user's problem with the `kept` quadruplets only; their weights keep their ratios.

    kept: (q,), boolean.
    """
    rows = {"quadruplets": given.quadruplets[kept].tolist(), "weights": given.weights[kept].tolist()}
    return _with(question, {**stored, **rows}, told)


def _lost_quadruplets(question: Question, given: Any, stored: dict[str, Any]) -> Iterator[OtherProblem]:
    count = len(given.quadruplets)
    for t in _one_of(count):
        if given.weights[t] > 0:
            told = f": {given.quadruplets[t].tolist()}"
            yield _quadruplets(question, given, stored, np.arange(count) != t, told)


def _quadruplets_without_two_classes(
    question: Question, given: Any, stored: dict[str, Any]
) -> Iterator[OtherProblem]:
    labels = _codes(question)
    if labels is None:
        return
    codes, names = labels
    of = np.sort(codes[given.quadruplets[:, 2:]], axis=1)
    for a, b in two_classes(codes):
        between = (of == (a, b)).all(axis=1)
        if between.any() and given.weights[~between].any():
            yield _quadruplets(question, given, stored, ~between, f": {names[a]} and {names[b]}")


QUADRUPLETS: dict[str, Misreading] = {
    "from_one": counted_from_one("quadruplets"),
    "lost": Misreading("one quadruplet lost", several=_lost_quadruplets),
    "class_pair": Misreading(
        "one pair of classes left out of the far pairs", several=_quadruplets_without_two_classes
    ),
}
