"""The documentation site: `make docs` builds it into `site/`. Nothing in it asks another host."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from api_pages import entries

import dikin

project = "dikin"
author = "The dikin developers"
copyright = "The dikin developers, MIT licence"
version = release = dikin.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    # Ours, in _ext.
    "api_pages",
    "interface_pages",
    "mathjax_files",
    "names_role",
    "repository_pages",
]
exclude_patterns = ["build", "_ext"]

# --- Markdown ------------------------------------------------------------------------------------

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_links_external_new_tab = False

# --- mathematics ---------------------------------------------------------------------------------

mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {
    # A formula is set when it comes into view: the page of proofs has more than a thousand.
    "loader": {"load": ["ui/lazy"]},
    # Its menu would load more parts of MathJax, which are not copied.
    "options": {"enableMenu": False},
    "chtml": {
        "displayAlign": "left",
        # Not as large as the letters of the reader's font ask for: then some would not fit.
        "matchFontHeight": False,
        "scale": 1.0,
    },
}
numfig = True

# --- links -----------------------------------------------------------------------------------

# Bases of our classes that have no page here: two of the standard library, one type variable.
nitpick_ignore = [
    ("py:class", "abc.ABC"),
    ("py:class", "enum.Enum"),
    ("py:class", "gest_api.generator.Generator"),
    ("py:class", "openfeature.provider.AbstractProvider"),
    ("py:class", "optuna.samplers._base.BaseSampler"),
    ("py:obj", "dikin.players.Q"),
]
# Docstrings that a sampler inherits from Optuna refer to Optuna's pages.
nitpick_ignore_regex = [("py:(class|func)", r"optuna\..*")]

# --- docstrings ----------------------------------------------------------------------------------

default_role = "name"
autodoc_typehints = "none"  # types stand in the docstrings, in words
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # a type is a link where it is one of these, and words elsewhere
numpydoc_xref_aliases = {
    name.rpartition(".")[2]: name
    for name in entries()
    if name.count(".") == 1 and name[6].isupper()
}

# --- looks ---------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "dikin"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "dikin", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "github-dark",
    "back_to_top_button": False,
}
html_sidebars: dict[str, list[str]] = {"index": []}
