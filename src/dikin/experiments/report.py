"""One HTML page that opens from disk, with everything inside."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from dikin.experiments.tables import Line, Scaling
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
    file: Path,
    measured: dict[int, list[Line]],
    dims: list[Scaling],
    pictures: list[tuple[Path, str]],
    made: dict[str, str],
) -> None:
    """The report."""
    body = [
        "<h1>Adaptive bandit convex optimization with heterogeneous curvature, measured</h1>",
        "<p>Luo, Zhang and Zhao (COLT 2022) prove how the regret of two adaptive algorithms grows "
        "with the number of rounds T, for losses whose strong convexity sigma_t changes every "
        "round. This page sets the exponents that they prove beside those that were measured. "
        "A proved exponent is an upper bound: a measured one may lie below it.</p>",
        *(_table(number, lines) for number, lines in measured.items()),
        _dimensions(dims),
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
    kind = "smooth losses, Algorithm 1" if number == 1 else "Lipschitz losses, Algorithm 2"
    head = [
        "pattern",
        "proved",
        "measured",
        "95% interval",
        "gap",
        "mean regret",
        "mean certificate",
    ]
    rows = [
        [
            line.pattern,
            f"{line.theory:.3f}",
            f"{line.fit.exponent:.3f}",
            f"{line.fit.low:.3f} to {line.fit.high:.3f}",
            f"{line.gap:+.3f}",
            f"{line.regrets[-1]:,.0f}",
            f"{line.certificates[-1]:,.0f}",
        ]
        for line in lines
    ]
    last = int(lines[0].horizons[-1])
    note = (
        f"<p>Exponents of T. Regret and certificate at T = {last:,}, mean of {lines[0].seeds} "
        "games, in units of half the range of the losses.</p>"
    )
    return f"<h2>Table {number}: {kind}</h2>{_html(head, rows)}{note}"


def _dimensions(dims: list[Scaling]) -> str:
    head = ["table, pattern, set", "in the table", "measured", "95% interval"]
    rows = [
        [
            f"{s.table}, {s.row}, {s.set}",
            f"{s.theory:.2f}",
            f"{s.fit.exponent:.2f}",
            f"{s.fit.low:.2f} to {s.fit.high:.2f}",
        ]
        for s in dims
    ]
    note = (
        "<p>Exponents of the dimension d, from 2 to 32, at one horizon. The tables' are upper "
        "bounds for nu = O(d) and large T.</p>"
    )
    return f"<h2>Dimension</h2>{_html(head, rows)}{note}"


def _html(head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _figure(path: Path, caption: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _how(made: dict[str, str]) -> str:
    rows = [[name, value] for name, value in made.items()]
    text = (
        "<p>Losses: <code>Ridge</code> (Table 1) and <code>Kink</code> (Table 2) on the unit disc; "
        "for the dimension <code>Quadratic</code> and <code>Distance</code>, steep in every "
        "direction. Their best fixed points are known exactly. Each horizon is played anew. The "
        "exponent is the least-squares slope of log mean regret against log T over the largest "
        "horizons; the interval is from 2000 bootstrap resamples of the games. Every game is a "
        "function of its seed; <code>games.csv</code> has them all.</p>"
    )
    return f"<h2>How every number was made</h2>{text}{_html(['', ''], rows)}"
