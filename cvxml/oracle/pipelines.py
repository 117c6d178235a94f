"""Find the metric learner in a fitted Pipeline or search of scikit-learn, and the points that the learner got.

A Pipeline or a search is recognised by the names of its class and base classes, so scikit-learn is not imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

Learns = Callable[[Any], bool]  # whether an estimator is a metric learner that can be judged


class Found(NamedTuple):
    """A metric learner, the points that it got, and the steps that lead to it.

    X: the points after the steps before the learner; None if no points were given. path: the names of the steps that
    contain the learner, outermost first, with "best_estimator_" for a search; empty if the learner was given itself.

    before: the fitted steps that transformed the points, in their order.
    """

    learner: Any
    X: Any
    path: tuple[str, ...] = ()  # names, outermost first; empty if the learner was given itself
    before: tuple[Any, ...] = ()  # the fitted steps that transformed X, in their order


def found(estimator: Any, X: Any, learns: Learns) -> Found:
    """Return the metric learner in `estimator`, and X transformed by the fitted steps before it.

    In a Pipeline, the last step that learns a metric is taken; in a search such as GridSearchCV, best_estimator_. Both
    may be nested. Any other estimator is returned with X. If X is None, only the learner is found.

    learns: a function that tells whether a step is a metric learner.

    Raises ValueError if a step is not fitted or cannot transform, if no step learns a metric, or if a search kept no
    fitted estimator.
    """
    if _is_search(estimator):
        best = _best(estimator)
        with named("best_estimator_"):
            inside = found(best, X, learns)
        return inside._replace(path=("best_estimator_", *inside.path))
    if not _is_pipeline(estimator):
        return Found(estimator, X)
    steps = _steps(estimator)
    positions = [k for k, (_, step) in enumerate(steps) if _holds(step, learns)]
    if not positions:
        listed = ", ".join(f"'{name}' ({type(step).__name__})" for name, step in steps)
        raise ValueError(
            f"no step of this {type(estimator).__name__} is a metric learner that can be judged; its steps are "
            f"{listed or 'empty'}: give a pipeline with a learner of cvxml, metric-learn or scikit-learn"
        )
    last = positions[-1]
    points, before = X, tuple(step for _, step in steps[:last])
    for name, step in steps[:last]:
        with named(name):
            points = None if X is None else _transformed(step, points)
    name, learner = steps[last]
    with named(name):
        inside = found(learner, points, learns)
    return inside._replace(path=(name, *inside.path), before=(*before, *inside.before))


@contextmanager
def named(*path: str) -> Iterator[None]:
    """In this context, put the steps in `path` in front of the message of a ValueError, for example "step 'pca': "."""
    try:
        yield
    except ValueError as error:
        if not path:
            raise
        raise ValueError(f"{', '.join(map(_said, path))}: {error}") from error


def _said(name: str) -> str:
    return name if name == "best_estimator_" else f"step '{name}'"


def _is_search(estimator: Any) -> bool:
    return _derives(estimator, "BaseSearchCV", "sklearn.model_selection")


def _is_pipeline(estimator: Any) -> bool:
    return _derives(estimator, "Pipeline", "sklearn.pipeline")


def _derives(estimator: Any, name: str, module: str) -> bool:
    return any(
        kind.__name__ == name and kind.__module__.startswith(module) for kind in type(estimator).__mro__
    )


def _best(search: Any) -> Any:
    """Return best_estimator_ of a search.

    Raises ValueError if the search is not fitted or has refit=False, because then best_estimator_ is of an earlier fit.
    """
    kind = type(search).__name__
    if search.refit is False:
        raise ValueError(
            f"this {kind} has refit=False and so keeps no fitted estimator: set refit=True and fit it again, "
            "or fit the estimator with best_params_ and give that"
        )
    best = getattr(search, "best_estimator_", None)
    if best is None:
        raise ValueError(f"this {kind} is not fitted: call its fit first")
    return best


def _steps(pipeline: Any) -> list[tuple[str, Any]]:
    """Return (name, step) for each step of a Pipeline that is used; a step None or "passthrough" does nothing."""
    return [(name, step) for name, step in pipeline.steps if step is not None and not isinstance(step, str)]


def _holds(step: Any, learns: Learns) -> bool:
    """Return True if the step is a metric learner, or a Pipeline or a search that contains one.

    learns: a function that tells whether an estimator is a metric learner.
    """
    if _is_search(step):
        return _holds(getattr(step, "best_estimator_", step.estimator), learns)
    if _is_pipeline(step):
        return any(_holds(each, learns) for _, each in _steps(step))
    return learns(step)


def _transformed(step: Any, X: Any) -> Any:
    transform = getattr(step, "transform", None)
    if transform is None:
        raise ValueError(
            f"{type(step).__name__} has no transform, so the points that the metric learner got are not known: "
            "give the learner itself, with these points"
        )
    return transform(X)
