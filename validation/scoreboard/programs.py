"""The programs of the board: who wrote them, in which language, how they are asked and what for."""

from __future__ import annotations

from typing import NamedTuple


class Program(NamedTuple):
    """A learner that others wrote."""

    name: str
    package: str
    language: str
    formulas: tuple[str, ...]  # the golden cases it is asked
    adapter: str  # a file in adapters/
    learner: str = ""  # the adapter's argument
    group: str = ""  # of `--run`, where it is not the adapter's

    @property
    def slug(self) -> str:
        """A name for files."""
        return f"{self.package}-{self.name}".lower().replace("/", "-")

    @property
    def runs_in(self) -> str:
        """What `--run` names: adapters of one environment."""
        return self.group or self.adapter.split(".")[0].removeprefix("with_")


def _of(
    package: str, language: str, adapter: str, learners: dict[str, tuple[str, ...]], group: str = ""
) -> list[Program]:
    return [
        Program(name, package, language, formulas, adapter, name.lower(), group)
        for name, formulas in learners.items()
    ]


PROGRAMS: tuple[Program, ...] = (
    *_of(
        "metric-learn",
        "Python",
        "with_metric_learn.py",
        {
            "LMNN": ("lmnn",),
            "ITML": ("itml",),
            "MMC": ("mmc", "mmc:diagonal"),
            "LSML": ("lsml",),
            "SCML": ("scml",),
            "RCA": ("rca",),
            "LFDA": ("lfda",),
            "MLKR": ("mlkr",),
            "NCA": ("nca",),
        },
    ),
    *_of("metric-learn", "Python", "with_metric_learn.py", {"SDML": ("sdml",)}, "sdml"),
    *_of("scikit-learn", "Python", "with_scikit_learn.py", {"NCA": ("nca",)}),
    *_of("pylmnn", "Python", "with_pylmnn.py", {"LMNN": ("lmnn:squared_hinge",)}),
    *_of(
        "pyDML",
        "Python, Cython",
        "with_pydml.py",
        {"LMNN": ("lmnn",), "NCA": ("nca",), "MCML": ("mcml",), "LSI": ("mmc",)},
    ),
    *_of("mlpack", "C++, from Python", "with_mlpack.py", {"LMNN": ("lmnn",), "NCA": ("nca",)}),
    *_of("dlib", "C++", "with_dlib.py", {"FrobMetric": ("frobmetric",)}),
    *_of("bmcfee/mlr", "Octave", "with_mlr.m", {"MLR": ("mlr",)}),
    *_of("bellet/SCML", "Octave, C", "with_scml.m", {"SCML": ("scml",)}),
    *_of("lfda", "R", "with_lfda.R", {"LFDA": ("lfda",)}),
)
