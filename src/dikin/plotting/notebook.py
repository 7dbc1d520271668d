from __future__ import annotations

from collections.abc import Iterable
from html import escape


def pairs_table(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a table of HTML with a row for each (label, text) pair."""
    left = "style='text-align:left'"
    rows = (
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(text)}</td></tr>"
        for name, text in pairs
    )
    return f"<table>{''.join(rows)}</table>"
