"""The site: python -m sphinx -W --keep-going -n -b html docs build/site

It needs no network, neither when it is built nor in the browser: mathematics becomes MathML (_ext/mathml.py), and
styles and scripts are the theme's own files.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from cvxml import __version__  # noqa: E402 (the package beside us, installed or not)

project = "cvxml"
author = "The cvxml developers"
project_copyright = "2026, The cvxml developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "docstrings",
    "mathml",
    "options",
    "relocate",
    "statement",
]
include_patterns = ["*.md", "reports/*.md"]
highlight_language = "text"
smartquotes = False  # a quotation mark may be code
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!cvxml\b).*")]  # types of numpy, cvxpy and scikit-learn: not our pages

myst_heading_anchors = 6  # the anchors that a code host gives
myst_links_external_new_tab = False

autodoc_typehints = "none"  # shapes and defaults are in the docstrings
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"cvxml {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
