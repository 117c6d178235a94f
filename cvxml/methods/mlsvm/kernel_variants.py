"""The misreadings of kernel MLSVM: those of problem (2) on the rows of K^(1/2), and those of the kernel."""

from __future__ import annotations

from cvxml.methods.mlsvm.instance import instance as linear_instance
from cvxml.methods.mlsvm.kernel_instance import in_feature_space, instance
from cvxml.methods.mlsvm.variants import VARIANTS as LINEAR
from cvxml.methods.mlsvm.variants import size
from cvxml.variant import Other, Question, Variant, changed


def _on_rows(question: Question) -> Question:
    """The same question to "mlsvm": the points are the rows of K^(1/2), the neighbours explicit."""
    given = instance(question.X, question.y, **question.params)
    metric = in_feature_space(given, question.metric)
    params = {"lam": given.lam, "neighbors": given.N.lists}
    return Question(given.E, given.y, metric, question.tol, params)


def _lifted(variant: Variant) -> Variant:
    """A misreading of "mlsvm" as one of its kernel form."""
    by_problem, by_left = variant.problem, variant.left

    def problem(question: Question) -> Other | None:
        assert by_problem is not None
        linear = _on_rows(question)
        other = by_problem(linear)
        return None if other is None else other._replace(metric=linear.metric, method="mlsvm")

    def left(question: Question) -> float:
        assert by_left is not None
        return by_left(_on_rows(question))

    if by_problem is None:
        return Variant(variant.sentence, left=left)
    return Variant(variant.sentence, problem)


def _bandwidth(question: Question) -> float | None:
    if question.params.get("kernel") != "rbf" or question.params.get("gamma") is None:
        return None
    return 1 / (2 * float(question.params["gamma"]) ** 2)


def _input_space(question: Question) -> list[list[int]] | None:
    if question.params.get("neighbors") is not None:
        return None
    given = {k: v for k, v in question.params.items() if k in ("n_neighbors", "neighborhood")}
    lists = linear_instance(question.X, question.y, **given).N.lists
    ours = instance(question.X, question.y, **question.params).N.lists
    other = [listed.tolist() for listed in lists]
    return None if [sorted(a) for a in other] == [sorted(b.tolist()) for b in ours] else other


_OF_LISTS = ("self", "fewer", "more", "last_index", "neighborhood")  # they need K, which explicit lists hide
VARIANTS: dict[str, Variant] = {
    **{name: _lifted(variant) for name, variant in LINEAR.items() if name not in _OF_LISTS},
    "fewer": Variant(LINEAR["fewer"].sentence, changed("n_neighbors", size(-1))),
    "more": Variant(LINEAR["more"].sentence, changed("n_neighbors", size(1))),
    "input_space": Variant(
        "the neighbours of the input space where the method takes those of the feature space",
        changed("neighbors", _input_space),
    ),
    "bandwidth": Variant("exp(-||x - x'||^2 / (2 gamma^2)) for the rbf kernel", changed("gamma", _bandwidth)),
}
