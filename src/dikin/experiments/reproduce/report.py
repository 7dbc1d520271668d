"""One HTML page that opens from disk, with everything inside."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from pathlib import Path

from dikin.experiments.fit import RESAMPLES
from dikin.experiments.reproduce.plan import TABLES
from dikin.experiments.reproduce.results import SHOWN, SHOWN_DIMENSIONS, Line, Measured
from dikin.experiments.tables import rows
from dikin.serialization import replace_file

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td { padding: 0.25rem 0.8rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #222; }
figure { margin: 1.5rem 0; } img { max-width: 100%; } figcaption { color: #555; font-size: 0.9rem; }
.scroll { overflow-x: auto; } code { background: #f4f4f4; }
"""


def write(
    file: Path, measured: Measured, pictures: list[tuple[Path, str]], made: dict[str, str]
) -> None:
    """The report."""
    body = [
        "<h1>Adaptive bandit convex optimization with heterogeneous curvature, measured</h1>",
        "<p>Luo, Zhang and Zhao (COLT 2022) prove how the regret of two adaptive algorithms grows "
        "with the number of rounds T, for losses whose strong convexity sigma_t changes every "
        "round. This page sets the exponents that they prove beside those that were measured. "
        "A proved exponent is an upper bound: a measured one may lie below it.</p>",
        *(_table(number, lines) for number, lines in measured.tables.items()),
        _dimensions(measured),
        "<h2>Figures</h2>",
        *(_figure(path, caption) for path, caption in pictures),
        _how(made),
    ]
    title = "dikin: both tables of the paper, measured"
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body>{''.join(body)}</body></html>\n"
    )
    replace_file(file, page.encode())


def _table(number: int, lines: list[Line]) -> str:
    kind = f"{TABLES[number].losses} losses, Algorithm {number}"
    curve = lines[0].curve
    note = (
        f"<p>Exponents of T. Regret and certificate at T = {int(curve.sizes[-1]):,}, mean of "
        f"{curve.games} games, in units of half the range of the losses.</p>"
    )
    return f"<h2>Table {number}: {kind}</h2>{_html([*SHOWN], rows(SHOWN, lines))}{note}"


def _dimensions(measured: Measured) -> str:
    body = rows(SHOWN_DIMENSIONS, measured.dimensions)
    dims = [int(dim) for scaling in measured.dimensions for dim in scaling.curve.sizes]
    note = (
        f"<p>Exponents of the dimension d, from {min(dims)} to {max(dims)}, at one horizon. The "
        "tables' are upper bounds for nu = O(d) and large T.</p>"
    )
    return f"<h2>Dimension</h2>{_html([*SHOWN_DIMENSIONS], body)}{note}"


def _html(head: Iterable[str], body: Iterable[Iterable[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _figure(path: Path, caption: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _how(made: dict[str, str]) -> str:
    text = (
        "<p>Losses: <code>Ridge</code> (Table 1) and <code>Kink</code> (Table 2) on the unit disc; "
        "for the dimension <code>Quadratic</code> and <code>Distance</code>, steep in every "
        "direction. Their best fixed points are known exactly. Each horizon is played anew. The "
        "exponent is the least-squares slope of log mean regret against log T over the largest "
        f"horizons; the interval is from {RESAMPLES} bootstrap resamples of the games. Every game "
        "is a function of its seed; <code>games.csv</code> has all that the exponents are made of, "
        "and not the few that are drawn round by round.</p>"
    )
    return f"<h2>How every number was made</h2>{text}{_html(['', ''], made.items())}"
