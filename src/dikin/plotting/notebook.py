"""HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

LEFT = "style='text-align:left'"


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
