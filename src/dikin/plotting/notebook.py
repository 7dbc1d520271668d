"""HTML for notebooks: tables, and a curve as SVG that needs no library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from dikin.plotting.style import BLUE, GREY
from dikin.vectors import Array

LEFT = "style='text-align:left'"
WIDTH, HEIGHT, MARGIN = 360, 150, 14
"""Pixels of a curve, and around it."""


def pairs_table(pairs: Iterable[tuple[str, str]]) -> str:
    """A table with one row per (label, text) pair."""
    rows = (
        f"<tr><th {LEFT}>{escape(name)}</th><td {LEFT}>{escape(text)}</td></tr>"
        for name, text in pairs
    )
    return f"<table>{''.join(rows)}</table>"


def columns_table(columns: Mapping[str, Sequence[str]]) -> str:
    """A table of texts with named columns."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = (
        "".join(f"<td>{escape(text)}</td>" for text in row)
        for row in zip(*columns.values(), strict=True)
    )
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def curve(x: Array | NDArray[np.int64], y: Array, title: str) -> str:
    """A curve from 0 on, with its end labelled; values that are not finite are left out."""
    finite = np.isfinite(y)
    x, y = x[finite], y[finite]
    if not len(x):
        return ""
    low, high = min(0.0, float(y.min())), max(0.0, float(y.max()))
    left = MARGIN + x / x[-1] * (WIDTH - 2 * MARGIN)
    unit = (HEIGHT - 4 * MARGIN) / ((high - low) or 1.0)
    zero = HEIGHT - MARGIN + low * unit
    top = zero - y * unit
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(left, top, strict=True))
    words = f"font-family='sans-serif' font-size='11' fill='{GREY}'"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' role='img'>"
        f"<text x='{MARGIN}' y='{MARGIN}' {words}>{escape(title)}</text>"
        f"<line x1='{MARGIN}' x2='{WIDTH - MARGIN}' y1='{zero:.1f}' y2='{zero:.1f}' "
        f"stroke='{GREY}' stroke-width='0.6'/>"
        f"<polyline points='{points}' fill='none' stroke='{BLUE}' stroke-width='2'/>"
        f"<text x='{left[-1]:.1f}' y='{top[-1] - 6:.1f}' text-anchor='end' {words}>"
        f"{y[-1]:.4g}</text></svg>"
    )
