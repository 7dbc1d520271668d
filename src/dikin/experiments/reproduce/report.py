"""One HTML page that opens from disk, with everything inside."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from pathlib import Path

from dikin.experiments.reproduce.plan import TABLES
from dikin.experiments.reproduce.results import (
    REPORTED,
    REPORTED_PREDICTIVE,
    SHOWN_DIMENSIONS,
    Line,
    Measured,
    count_verdicts,
)
from dikin.experiments.tables import Columns, T, rows
from dikin.files import replace_file

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 73rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td { padding: 0.25rem 0.6rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; } p, li, figcaption { max-width: 60rem; }
thead th { border-bottom: 2px solid #222; }
figure { margin: 1.5rem 0; } img { max-width: 100%; } figcaption { color: #555; font-size: 0.9rem; }
.scroll { overflow-x: auto; } code { background: #f4f4f4; }
"""


def write(
    file: Path, measured: Measured, pictures: list[tuple[Path, str]], made: dict[str, str]
) -> None:
    body = [
        "<h1>Adaptive bandit convex optimization with heterogeneous curvature, measured</h1>",
        "<p>Luo, Zhang and Zhao (COLT 2022) prove how the regret of two adaptive algorithms grows "
        "with the number of rounds T, for losses whose strong convexity sigma_t changes every "
        "round. This page sets the exponents that they prove beside those that were measured.</p>",
        _verdicts(measured),
        *(_table(number, lines) for number, lines in measured.tables.items()),
        *(_table(number, lines) for number, lines in measured.predictive.items()),
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


def _verdicts(measured: Measured) -> str:
    """Number of rows that agree, and the reasons of the others."""
    lines = [line for table in measured.tables.values() for line in table]
    sizes = lines[0].curve.tail.astype(int)
    return f"""
<h2>What to expect, and what came out</h2>
<p><b>{count_verdicts(line.side for line in lines)}</b>
A proved exponent is a limit: the slope as T grows without end, for the worst losses, logarithms
left out. Measured is the slope from T = {sizes[0]:,} to {sizes[-1]:,}. Three things set them
apart, and each can be seen in a column of the tables:</p>
<ul>
<li><b>Exploring starts cheap.</b> In round t it costs about beta/(2d (h + eta_t S_t)) for smooth
losses and (2/pi) L/sqrt(h + eta_t S_t) for Lipschitz ones in the plane: h is the Hessian of the
barrier at the best point, eta_t the step, S_t the sum of curvature and regularisation. h, the
regularisation before the first round, and floor and cap of the step are constants that matter
less and less as S_t grows, so that the sum over the rounds is at first steeper than its limit.
All of it is known before a game: <i>exploring</i> is its slope over the same horizons.</li>
<li><b>Logarithms and lower-order terms.</b> The bound of the theorem, all of them included, is
computed along with every game: <i>certificate's slope</i> is fitted to it in the same way.</li>
<li><b>Chance.</b> With lasting curvature the regret of a game consists of few large excursions:
most games are spent there, and the interval is still the widest.</li>
</ul>
<p>So the verdicts: <i>consistent</i>, the interval contains the proved exponent; <i>above, as
exploring is</i>, it lies above, and exploring alone is that steep at these horizons; <i>above,
as the bound is</i>, the same of the theorem's own bound; <i>above</i>, neither is as steep: the
rest is the way of the centre, which no formula here foretells; <i>below</i>, which an upper bound
allows. A mean regret above its certificate, which would contradict a theorem, ends the command
with an error.</p>
"""


def _table(number: int, lines: list[Line]) -> str:
    last = (
        f"Regret and certificate are means at T = {int(lines[0].curve.sizes[-1]):,}, in units of "
        "half the range of the losses."
    )
    if lines[0].player == "sharp":
        title = f"Table {number}: {TABLES[number].losses} losses, Algorithm {number}"
        return _section(title, REPORTED, lines, f"Exponents of T. {last}")
    note = (
        f"To shifted losses a random sign times the largest loss is added in every round. {last} "
        f"What is proved is the paper's. {count_verdicts(line.side for line in lines)}"
    )
    return _section(f"Predictive, the rows of Table {number}", REPORTED_PREDICTIVE, lines, note)


def _dimensions(measured: Measured) -> str:
    dims = [int(dim) for scaling in measured.dimensions for dim in scaling.curve.sizes]
    note = (
        f"Exponents of the dimension d, from {min(dims)} to {max(dims)}, at one horizon. The "
        "tables' are upper bounds for nu = O(d) and large T."
    )
    return _section("Dimension", SHOWN_DIMENSIONS, measured.dimensions, note)


def _section(title: str, columns: Columns[T], things: Iterable[T], note: str) -> str:
    return f"<h2>{title}</h2>{_html([*columns], rows(columns, things))}<p>{note}</p>"


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
        "direction. Their best fixed points are known exactly. Every horizon is a game of its own; "
        "where neither learner nor losses know the horizon, it is the beginning of the longer game "
        "with the same seed. The exponent is the least-squares slope of log mean regret against "
        "log T over the largest horizons; the interval is Student's over games, each with all its "
        "horizons. Every game is a function of its seed; <code>games.csv</code> has all that the "
        "exponents are made of.</p>"
    )
    return f"<h2>How every number was made</h2>{text}{_html(['', ''], made.items())}"
