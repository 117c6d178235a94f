"""The misreadings of kernel MLSVM: problems that implementations solve instead of it, and that `check` can name.

Most are the misreadings of MLSVM on the rows of E, where K = E E^T is the kernel matrix. Two concern the kernel: the
neighbours of the input space, and another bandwidth of the rbf kernel. A `Question` holds a refuted metric, with the
data and parameters that it was judged with.
"""

from __future__ import annotations

from cvxml.core.misreading import Misreading, OtherProblem, Question, changed
from cvxml.methods.kernel_mlsvm.instance import in_feature_space, instance
from cvxml.methods.mlsvm.misreadings import MISREADINGS as LINEAR
from cvxml.methods.mlsvm.misreadings import size
from cvxml.methods.mlsvm.neighborhood import instance as linear_instance


def _on_rows(question: Question) -> Question:
    """The same question about "mlsvm", with the rows of E as points, the metric E^T phi E, and neighbours as lists."""
    given = question.checked(instance)
    metric = in_feature_space(given, question.metric)
    params = {"lam": given.lam, "neighbors": given.N.lists}
    return Question(given.E, given.y, metric, question.tol, params)


def _lifted(misreading: Misreading) -> Misreading:
    """Return the misreading of "kernel_mlsvm" that corresponds to a misreading of "mlsvm"."""
    by_problem, by_left = misreading.problem, misreading.left

    def problem(question: Question) -> OtherProblem | None:
        assert by_problem is not None
        linear = _on_rows(question)
        other = by_problem(linear)
        return None if other is None else other._replace(metric=linear.metric, method="mlsvm")

    def left(question: Question) -> float:
        assert by_left is not None
        return by_left(_on_rows(question))

    if by_problem is None:
        return Misreading(misreading.sentence, left=left)
    return Misreading(misreading.sentence, problem)


def _bandwidth(question: Question) -> float | None:
    if question.params.get("kernel") != "rbf" or question.params.get("gamma") is None:
        return None
    return 1 / (2 * float(question.params["gamma"]) ** 2)


def _input_space(question: Question) -> list[list[int]] | None:
    if question.params.get("neighbors") is not None:
        return None
    given = {k: v for k, v in question.params.items() if k in ("n_neighbors", "neighborhood")}
    lists = linear_instance(question.X, question.y, **given).N.lists
    ours = question.checked(instance).N.lists
    other = [listed.tolist() for listed in lists]
    return None if [sorted(a) for a in other] == [sorted(b.tolist()) for b in ours] else other


def _one_less(question: Question) -> OtherProblem | None:
    return None if question.params.get("neighbors") is None else _lifted(LINEAR["from_one"]).problem(question)  # type: ignore[misc]


# The problem on E has explicit lists, which hide the size K that these misreadings change. The norm of "off_diagonals"
# would depend on the basis of the feature space.
_NOT_LIFTED = (
    *("self", "fewer", "more", "last_index", "neighborhood", "from_one", "class_pair"),
    *("second_neighbors", "furthest_neighbors", "off_diagonals"),
)
MISREADINGS: dict[str, Misreading] = {
    **{name: _lifted(misreading) for name, misreading in LINEAR.items() if name not in _NOT_LIFTED},
    "fewer": Misreading(LINEAR["fewer"].sentence, changed("n_neighbors", size(-1))),
    "more": Misreading(LINEAR["more"].sentence, changed("n_neighbors", size(1))),
    "from_one": Misreading(LINEAR["from_one"].sentence, _one_less),
    "class_pair": LINEAR["class_pair"],
    "input_space": Misreading(
        "the neighbours of the input space where the method takes those of the feature space",
        changed("neighbors", _input_space),
    ),
    "bandwidth": Misreading(
        "exp(-||x - x'||^2 / (2 gamma^2)) for the rbf kernel", changed("gamma", _bandwidth)
    ),
}
