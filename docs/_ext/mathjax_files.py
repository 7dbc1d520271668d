"""MathJax from a package of the index, so that a page asks no other host for it.

Of the package's 24 MB a page needs two scripts and the fonts.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util.fileutil import copy_asset

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SCRIPTS = ["tex-chtml.js", "ui/lazy.js"]
FONTS = "output/chtml/fonts/woff-v2"


def _copy(app: Sphinx, error: Exception | None) -> None:
    spec = find_spec("sphinx-mathjax-offline")
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).parent / "static" / "mathjax"
    goal = app.outdir / "_static" / "mathjax"
    for script in SCRIPTS:
        copy_asset(source / script, (goal / script).parent)
    copy_asset(source / FONTS, goal / FONTS)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
