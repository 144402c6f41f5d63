"""How the documentation is built: `make docs`, into build/docs, with warnings as errors.

The pages are Markdown that also reads well where it lies. Neither the build nor a reader needs a
network: formulas are MathML, and types of other libraries are named without links.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import mossrules

os.environ["MPLBACKEND"] = "agg"  # examples draw without a screen

ROOT = Path(__file__).parents[1]

project = "mossrules"
author = "The mossrules developers"
version = release = mossrules.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_templates", "gallery/*.py", "gallery/*.ipynb", "sg_execution_times.rst"]

# --- Markdown -------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3  # links such as choosing.md#measuring-agreement, as on code hosts

OUTSIDE = {  # files of the repository that pages link to, and the pages that include them
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../README.md": "index.md",
    "../research/benchmarks/README.md": "benchmarks.md",
}


def link_to_pages(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Let links to files outside of docs/ lead to the pages that include them."""
    for file, page in OUTSIDE.items():
        source[0] = source[0].replace(f"]({file}", f"]({page}")


# --- docstrings -----------------------------------------------------------------------------------

default_role = "code"  # `this` in a docstring is code
autosummary_generate = True
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template of a class lists them
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
nitpick_ignore_regex = [
    # Types of other libraries, whose pages a build without a network cannot link to.
    ("py:.*", r"(numpy|collections|os|pathlib|sklearn)\..*|Axes"),
    # Records inside of figures, data and solver, which signatures name and users need not.
    ("py:class", r"mossrules\.candidates\.(cuts|codes|forest|statistics)\.\w+"),
    ("py:class", r"mossrules\.data\.(columns\.Kind|rows\.Rows|table\.Table)"),
    ("py:class", r"mossrules\.(constraints\.builder|learning\.\w+)\.\w+"),
    ("py:class", r"mossrules\.display\.(report\.(data|render)|plots\.\w+)\.\w+"),
    ("py:class", r"mossrules\.(model\.calibration|solver\.(problems|cutting_plane)\.\w+)\.\w+"),
    # Names that are imported for type checkers alone.
    ("py:class", r"Binning|CandidatePool|Candidates|Path|Rule|Rows|Settings"),
    ("py:class", r"Horizontal|Vertical"),
]


def skip_what_is_not_ours(
    _app: Sphinx, _what: str, _name: str, member: Any, *_: Any
) -> bool | None:
    """Leave out of a class what it inherits from other libraries; None is no opinion."""
    home = getattr(getattr(member, "fget", member), "__module__", None) or "mossrules"
    ours = str(home).startswith(("mossrules", "sphinx"))  # Sphinx stands in for fields of records
    return None if ours else True


def name_arrays(
    _app: Sphinx, _what: str, _name: str, _thing: Any, _options: Any, *texts: str | None
) -> tuple[str | None, ...]:
    """Write `ndarray[float64]` for what NumPy spells out, in parameters and in what is returned."""
    spelled = re.compile(r"ndarray\[tuple\[[~\w.]*Any, \.\.\.\], [~\w.]*dtype\[([~\w.]+)\]\]")
    return tuple(text and spelled.sub(r"ndarray[\1]", text) for text in texts)


# --- examples -------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "ignore_repr_types": r"matplotlib|mossrules\.display",  # the figure says it all
    "show_memory": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

# --- the site -------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "mossrules"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is


def inline_formula(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed_formula(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    formula = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Connect the functions of this file."""
    app.connect("source-read", link_to_pages)
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
    app.connect("autodoc-process-signature", name_arrays)
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
