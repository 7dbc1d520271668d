"""Parts of pages that come from CSVs: tables, and the marks between which they stand.

A page is written by hand but for its parts, `<!-- name -->` to `<!-- end of name -->`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dikin.experiments.tables import Columns, T, rows

Row = dict[str, str]
"""A row of a CSV."""


def markdown(columns: Columns[T], things: Iterable[T]) -> str:
    """Return a table with a row for each thing."""
    return table(" | ".join(columns), rows(columns, things))


def table(head: str, body: Iterable[Iterable[str]]) -> str:
    """Return a table of texts, where `head` has its columns with bars between."""
    rule = " | ".join("---" for _ in head.split("|"))
    return "\n".join(f"| {line} |" for line in (head, rule, *map(" | ".join, body)))


def filled(page: str, parts: Mapping[str, str]) -> str:
    """Return a page with these parts between their marks."""
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if page.count(begin) != 1 or end not in page.partition(begin)[2]:
            raise LookupError(f"a part needs its marks once: {begin} and {end}")
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}"
    return page
