"""A table between two marks of a page, written there by the program that measured it."""

from pathlib import Path


def into_page(table: str, page: Path, name: str) -> None:
    """Put a table between the marks of its name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    assert found, f"{page} has no place for {name}"
    assert closed, f"the place for {name} in {page} has no end"
    page.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
