"""Common style of all figures: colours, letters, and the way to a file."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from dikin import extras
from dikin.errors import ParameterError
from dikin.files import path_of, replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
FILE_DPI = 200
"""Pixels in an inch of a PNG."""

# Okabe and Ito's palette (2008), which people with any colour vision can distinguish.
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
PALETTE = [BLUE, ORANGE, GREEN, PURPLE, "#e69f00", "#56b4e9"]
GREY, PALE, INK = "#666666", "#bbbbbb", "#222222"
FONTS = ["STIXGeneral", "DejaVu Sans"]
"""Both come with matplotlib: a figure looks the same everywhere."""
STYLE: Any = {
    "font.family": FONTS,
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
}
"""Sizes are in points."""


def require(module: str) -> Any:
    """A module of matplotlib, such as `matplotlib.ticker`."""
    return extras.require(module, "lab", "a figure")


def styled() -> Any:
    """Return a context in which figures have the style. The user's own settings stay."""
    return require("matplotlib").rc_context(STYLE | {"svg.hashsalt": "dikin"})


def figure_format(path: str | os.PathLike[str]) -> str:
    """The format that the suffix of a file asks for, such as "png"."""
    kind = path_of(path).suffix.lstrip(".").lower()
    if kind not in FORMATS:
        endings = ", ".join(f".{each}" for each in FORMATS)
        raise ParameterError(f"a figure is written to a file that ends in {endings}, got {path}")
    return kind


def rendered(figure: Figure, kind: str) -> bytes:
    """A figure as the content of a file: the same bytes for the same figure."""
    # Without a date; the salt of `styled` names the parts of an SVG without random numbers.
    undated: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    content = io.BytesIO()
    with styled():
        figure.savefig(content, format=kind, dpi=FILE_DPI, metadata=undated)
    return content.getvalue()


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a .png, .svg or .pdf, which is at any instant wholly old or wholly new."""
    replace_file(path_of(path), rendered(figure, figure_format(path)))
