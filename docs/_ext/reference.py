"""A page in docs/api/ for each public name, and ```{reference} GROUP```, which lists the names of a group.

The groups follow from `cvxml.__all__`, and the order of the names from the docstring of the package. So a new
estimator gets its page, its line and its place in the table of contents by itself. Its text comes from docstrings
(docstrings.py). The pages are written before each build and are not in the repository.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from options import words
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

import cvxml
from cvxml import datasets, displays, testing

DOCS = Path(__file__).resolve().parent.parent
INTERNAL = {"of_example"}  # functions of cvxml.datasets that are not public
# a page that explains a name, or shows its pictures
MORE = {
    "solve": "tutorial",
    "check": "oracle",
    "certify_estimator": "from_scikit_learn",
    "certify_solution": "duality_files",
    "certify": "duality",
    "problem": "play",
    "load": "duality_files",
    "from_tuples": "from_metric_learn",
    "Solution": "duality_files",
    "Certificate": "duality",
    "Report": "oracle",
    "Verdict": "oracle_verdicts",
    "Evaluation": "methods",
    "PairClassifier": "from_metric_learn",
    "testing": "conform",
    **dict.fromkeys(displays.__all__, "displays"),
}


class Entry(NamedTuple):
    """A public name: its module, and the object."""

    module: str
    name: str
    item: Any

    @property
    def page(self) -> str:
        """The name of its page; "" for a function of a module: the module has the page."""
        return f"api/{self.name}" if self.module in ("cvxml", "cvxml.displays") else ""

    @property
    def line(self) -> str:
        """The first sentence of its docstring, in one line."""
        first = (inspect.getdoc(self.item) or "").split("\n\n")[0].replace("\n", " ")
        return re.split(r"(?<=[^.][.]) (?=[A-Z])", first)[0]


def is_estimator(item: Any) -> bool:
    return inspect.isclass(item) and hasattr(item, "fit")


def groups() -> dict[str, list[Entry]]:
    """Map each group of the reference to its names, in the order of the docstring of the package."""

    def place(name: str) -> tuple[int, str]:
        found = re.search(rf"\b{name}\b", str(cvxml.__doc__))
        return (found.start() if found else len(str(cvxml.__doc__)), name)

    public = [name for name in cvxml.__all__ if name != "__version__"]
    items = [Entry("cvxml", name, getattr(cvxml, name)) for name in sorted(public, key=place)]
    classes = [each for each in items if inspect.isclass(each.item)]
    modules = {each.name: each for each in items if inspect.ismodule(each.item)}
    of_datasets = [
        Entry("cvxml.datasets", name, item)
        for name, item in vars(datasets).items()
        if inspect.isfunction(item) and item.__module__ == datasets.__name__ and name[0] != "_"
    ]
    of_datasets.sort(key=lambda each: each.name not in ("load", "read", "names"))
    return {
        "functions": [each for each in items if inspect.isfunction(each.item)],
        "results": [each for each in classes if not is_estimator(each.item)],
        "estimators": [each for each in classes if is_estimator(each.item)],
        "displays": [Entry("cvxml.displays", name, getattr(displays, name)) for name in displays.__all__],
        "data": [modules["datasets"], *(each for each in of_datasets if each.name not in INTERNAL)],
        "typed": [modules["typed"]],
        "testing": [
            modules["testing"],
            *(Entry("cvxml.testing", name, getattr(testing, name)) for name in testing.__all__),
        ],
    }


def members(item: type) -> list[str]:
    """Return the public methods and properties of a class that cvxml defines, those of its base classes last."""
    own = [of for of in item.__mro__ if of.__module__.partition(".")[0] == "cvxml"]
    kinds = (staticmethod, classmethod, property)
    return list(
        dict.fromkeys(
            name
            for of in own
            for name, value in vars(of).items()
            if name[0] != "_" and (inspect.isfunction(value) or isinstance(value, kinds))
        )
    )


def page(entry: Entry) -> str:
    """Return the text of a page."""
    full = f"{entry.module}.{entry.name}"
    title = full if entry.module == "cvxml" else entry.name  # a long title is broken on a telephone
    out = [title, "=" * len(title), "", f".. currentmodule:: {entry.module}", ""]
    if entry.module == "cvxml.displays":
        picture = entry.item.__module__.rpartition(".")[2]
        out += [f".. image:: /_static/display_{picture}.png", f"   :alt: {entry.line}", ""]
    if inspect.ismodule(entry.item):
        out += [f".. automodule:: {full}"]
        if entry.name != "typed":
            shown = [each.name for group in groups().values() for each in group if each.module == full]
            out += [f"   :members: {', '.join(shown)}"]
    elif inspect.isclass(entry.item):
        out += [f".. autoclass:: {entry.name}"]
        if found := members(entry.item):
            out += [f"   :members: {', '.join(found)}"]
    else:
        out += [f".. autofunction:: {entry.name}"]
    if is_estimator(entry.item):
        out += ["", "The other methods, such as ``get_params``, are those of scikit-learn."]
    if entry.name in MORE:
        out += ["", f"More: :doc:`/{MORE[entry.name]}`."]
    return "\n".join([*out, "", "All names: :doc:`/api`.", ""])


def write_pages() -> None:
    """Write the pages, and remove old pages without a name."""
    texts = {
        DOCS / f"{each.page}.rst": page(each) for group in groups().values() for each in group if each.page
    }
    (DOCS / "api").mkdir(exist_ok=True)
    for path in set((DOCS / "api").glob("*.rst")) - set(texts):
        path.unlink()
    for path, text in texts.items():
        # Sphinx reads a page again after each write, so unchanged pages are not written.
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def also(entry: Entry) -> str:
    """Return a sentence with the lists that `fit` takes in place of labels; "" if it takes no lists."""
    takes = list(inspect.signature(entry.item.fit).parameters) if is_estimator(entry.item) else []
    lists = [f"`{name}`" for name in takes if name not in ("self", "X", "y", "weights")]
    return f" `fit` also takes {' or '.join(lists)}." if lists and "X" in takes else ""


class Reference(SphinxDirective):
    """List the names of a group, each with a link and a line, and add their pages to the table of contents."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        listed = nodes.bullet_list(classes=["reference"])
        found = groups()[self.arguments[0]]
        for entry in found:
            listed += nodes.list_item(
                "", nodes.paragraph("", "", self.link(entry), *words(f": {entry.line}{also(entry)}"))
            )
        pages = "\n".join(f"{each.name} </{each.page}>" for each in found if each.page)
        contents = self.parse_text_to_nodes(f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n")
        return [listed, *contents]

    def link(self, entry: Entry) -> nodes.Node:
        """Return a link to the page of a name, or to the place of a function on the page of its module."""
        code = nodes.literal(text=entry.name)
        domain, kind, target = (
            ("std", "doc", f"/{entry.page}") if entry.page else ("py", "obj", f"{entry.module}.{entry.name}")
        )
        return addnodes.pending_xref(
            "",
            code,
            refdomain=domain,
            reftype=kind,
            reftarget=target,
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )


def setup(app: Any) -> dict[str, bool]:
    write_pages()
    app.add_directive("reference", Reference)
    return {"parallel_read_safe": True}
