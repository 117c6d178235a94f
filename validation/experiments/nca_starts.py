"""Three ways to choose a start of NCA, and a verdict only if all three agree.

f is not concave, and the note does not give its start. So a verdict must not depend on our choice among the starts.
"""

from __future__ import annotations

from collections.abc import Sequence

from validation.experiments.nca_claims import Judged, Key, of_set, sets
from validation.experiments.page import Groups
from validation.experiments.tasks import Result
from validation.experiments.verdicts import Verdict

EQUAL = 4  # decimals of f / n; starts with the same rounded value count as equal
DEFAULT = "auto"  # the default start of the package
CHOICES = {
    "first": "the first start of the best f, which the tables show",
    "last": "the last start of the best f",
    DEFAULT: f"the start *{DEFAULT}* alone",
}


def start_of(starts: dict[str, Result], choice: str) -> str:
    """Return the start that a choice takes from `starts`, a dictionary from a start to its run."""
    if choice == DEFAULT and DEFAULT in starts:
        return DEFAULT
    best = max(round(run["f"], EQUAL) for run in starts.values())
    equal = [start for start, run in starts.items() if round(run["f"], EQUAL) == best]
    return equal[-1] if choice == "last" else equal[0]


def chosen(groups: Groups, choice: str) -> Groups:
    """Return the same results, with NCA's accuracies taken from the start of a choice."""

    def changed(result: Result) -> Result:
        if "starts" not in result:
            return result
        start = start_of(result["starts"], choice)
        run = result["starts"][start]
        return {**result, "start": start, "train": run["train"], "test": run["test"]}

    return {
        data: {method: [changed(each) for each in results] for method, results in methods.items()}
        for data, methods in groups.items()
    }


def agreed(claims: Sequence[Judged]) -> Judged:
    """Return the first of `claims`, with the verdicts on which all choices agree. `claims` holds one claim per choice.

    A comparison is undecided if its verdict depends on the choice. A choice without the comparison does not count.
    """
    first = claims[0]

    def verdicts(found: Sequence[dict[Key, Verdict]]) -> dict[Key, Verdict]:
        every = {key: {each[key] for each in found if key in each} for key in first.pairs}
        return {key: each.pop() if len(each) == 1 else Verdict.UNDECIDED for key, each in every.items()}

    return first._replace(
        here=verdicts([claim.here for claim in claims]), new=verdicts([claim.new for claim in claims])
    )


def by_choice(claims: Sequence[Judged]) -> list[str]:
    """Return a line for each data set on which the verdict of a sentence depends on the choice, with each verdict."""
    found = []
    for data in sets(claims[0]):
        each = [of_set(claim.here, data) for claim in claims]
        if len(set(each)) > 1:
            named = ", ".join(f"{choice}: {verdict}" for choice, verdict in zip(CHOICES, each, strict=True))
            found.append(f'"{claims[0].sentence}", {claims[0].where}, {data}: {named}.')
    return found
