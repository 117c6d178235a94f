"""The site: python -m sphinx -W --keep-going -n -b html docs build/site

It needs no network, neither when it is built nor in the browser: mathematics becomes MathML (_ext/mathml.py), and
styles and scripts are the theme's own files.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from cvxml import __version__

project = "cvxml"
author = "The cvxml developers"
project_copyright = "2026, The cvxml developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "excerpts",
    "mathml",
    "narrow",
    "options",
    "outputs",
    "parameters",
    "reference",
    "relocate",
    "statement",
    "terms",
]
myst_enable_extensions = ["dollarmath"]
include_patterns = ["*.md", "api/*.rst", "teaching/*.md", "reports/*.md", "gallery/*.rst"]
highlight_language = "text"
smartquotes = False  # a quotation mark may be code
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!cvxml\b).*"),  # types of numpy, cvxpy and scikit-learn: not our pages
    ("py:class", ".*"),  # the words for a type that signatures have
]

myst_heading_anchors = 6  # the anchors that a code host gives
myst_links_external_new_tab = False

autodoc_typehints = "signature"
SHORT = [
    "ArrayLike",
    "Callback",
    "Diagnosed",
    "Dual",
    "FloatArray",
    "IntArray",
    "Pairs",
    "Program",
    "Starts",
    "Table",
    "Tolerance",
]
autodoc_type_aliases = {name: name for name in SHORT}  # docs/api.md explains these names
python_use_unqualified_type_names = True
maximum_signature_line_length = 80
autodoc_member_order = "bysource"

os.environ["OMP_NUM_THREADS"] = "1"  # of the programs that examples start
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",  # not kept
    "filename_pattern": r"\.py$",  # all are run
    "copyfile_regex": "",
    "min_reported_time": 1e6,  # seconds differ from machine to machine
    "write_computation_times": False,
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (500, 320),
    "remove_config_comments": True,
}

copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = f"cvxml {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
