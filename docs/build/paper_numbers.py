"""The measured numbers of docs/paper, as LaTeX: read from the CSVs of docs/, never typed in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import games_page

from dikin.files import replace_file
from evidence.games import read_table
from evidence.rivals import TUNER

DOCS = Path(__file__).resolve().parents[1]
PATTERNS = {
    "sigma_t = 0": r"$\sigma_t=0$",
    "sigma_t = sigma": r"$\sigma_t=\sigma$",
    "first T^(3/4) rounds flat": r"first $T^{3/4}$ rounds flat",
    "first T^(8/9) rounds flat": r"first $T^{8/9}$ rounds flat",
    "second half flat": "second half flat",
}
"""The rows of the two tables that the paper shows: their names in the CSVs and in print."""


def exponent_rows(docs: Path) -> Iterator[str]:
    predictive = read_table(docs / "evidence" / "predictive.csv")
    for number, losses in ((1, "smooth"), (2, "Lipschitz")):
        own = {
            row["pattern"]: row
            for row in predictive
            if row["table"] == str(number) and row["losses"] == "plain"
        }
        for row in read_table(docs / "evidence" / f"table{number}.csv"):
            if row["pattern"] in PATTERNS:
                cells = [losses, PATTERNS[row["pattern"]], f"{float(row['theory']):.2f}"]
                cells += [_interval(row), _interval(own[row["pattern"]])]
                yield " & ".join(cells) + r" \\"


def _interval(row: dict[str, str]) -> str:
    measured, low, high = (float(row[name]) for name in ("measured", "low", "high"))
    return f"{measured:.2f} ({low:.2f} to {high:.2f})"


def outside_numbers(docs: Path) -> Iterator[str]:
    """bbob-noisy, 1,000 rounds, by those who play all of its problems."""
    bbob = games_page.Part.read("bbob", docs)
    tuning, final = (games_page.complete(bbob, measure) for measure in games_page.WHEN)
    ranks = tuning.ranks()
    own = ranks.pop(TUNER)
    least, lost = (
        [factor > games_page.TIE for factor in each.factors(TUNER)] for each in (tuning, final)
    )
    yield command("OutsideProblems", str(len(least)))
    yield command("OutsideLeast", str(len(least) - sum(least)))
    yield command("OutsideRank", f"{own:.1f}")
    yield command("OutsideNextRank", f"{min(ranks.values()):.1f}")
    yield command("OutsideFinalLost", str(sum(lost)))


def coverage_numbers(docs: Path) -> Iterator[str]:
    rows = read_table(docs / "worth" / "coverage.csv")
    missed = [100 * float(row["missed"]) for row in rows]
    fixed = [100 * float(row["missed_fixed"]) for row in rows]
    yield command("CoverageKinds", str(len(rows)))
    yield command("CoverageLeast", f"{min(missed):.1f}")
    yield command("CoverageMost", f"{max(missed):.1f}")
    yield command("CoverageFixedLeast", f"{min(fixed):.0f}")
    yield command("CoverageFixedMost", f"{max(fixed):.0f}")


def command(name: str, text: str) -> str:
    return rf"\newcommand{{\{name}}}{{{text}}}"


def render(docs: Path) -> str:
    """The whole of numbers.tex."""
    lines = [
        "% Written by docs/build/paper_numbers.py.",
        command("ExponentRows", "\n".join(exponent_rows(docs))),
        *coverage_numbers(docs),
        *outside_numbers(docs),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    replace_file(DOCS / "paper" / "numbers.tex", render(DOCS).encode())
