"""From finished cells to measured exponents, and to files that other programs read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dikin.experiments import tables
from dikin.experiments.fit import Curve
from dikin.experiments.rates.plan import Request, cells
from dikin.experiments.rates.rate_cases import RateCase
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, six_decimals, whole, write_csv

BAND = 0.08
"""How far a measured exponent may lie from the proved one."""


@dataclass(frozen=True)
class Line:
    """A case with what was measured of it."""

    case: RateCase
    curve: Curve

    @classmethod
    def of(cls, case: RateCase, request: Request, results: Results) -> Line:
        """From finished cells."""
        parts = ((cell.horizon, results[cell.key]) for cell in cells(case, request))
        horizons = np.array(case.horizons(request.effort.horizons), dtype=float)
        proved = case.bound.exponent(horizons)
        return cls(case, Curve.of(parts, proved=proved))

    @property
    def missed(self) -> bool:
        """Whether the measured exponent is far from the proved one."""
        return abs(self.curve.gap) > BAND


# --- as text ------------------------------------------------------------------------------------

SHOWN: Columns[Line] = {
    "case": lambda line: line.case.key,
    **tables.FITTED_SHOWN,
    "proved": lambda line: line.case.bound.power or "ln T",
    "": lambda line: "!" if line.missed else "",
    "up to T": lambda line: whole(line.curve.sizes[-1]),
}
RATES_FILE: Columns[Line] = {
    "case": lambda line: line.case.key,
    "learner": lambda line: line.case.learner,
    "losses": lambda line: line.case.losses,
    "bound": lambda line: line.case.bound,
    "proved": lambda line: six_decimals(line.curve.proved),
    "bound_slope": lambda line: six_decimals(line.case.bound.slope(line.curve.sizes)),
    **tables.FITTED_FILE,
    "gap": lambda line: six_decimals(line.curve.gap),
    "games": lambda line: line.curve.games,
}
LOGARITHMS_FILE: Columns[Line] = {
    "case": lambda line: line.case.key,
    "start": lambda line: six_decimals(line.curve.logarithm.start),
    "step": lambda line: six_decimals(line.curve.logarithm.step),
    "misfit": lambda line: six_decimals(line.curve.misfit(line.curve.logarithm)),
    "power_misfit": lambda line: six_decimals(line.curve.misfit(line.curve.power)),
}


GAME = ("case", "horizon", "seed", "regret")


def write_files(lines: list[Line], request: Request, results: Results, out: Path) -> None:
    """rates.csv, a row per case; regrets.csv, a row per horizon; logarithms.csv; every game."""
    write_csv(out / "rates.csv", RATES_FILE, lines)
    points = tables.items("case", "horizon", "regret", "error")
    write_csv(out / "regrets.csv", points, (point for line in lines for point in _points(line)))
    slow = [line for line in lines if line.case.bound.power == 0]
    write_csv(out / "logarithms.csv", LOGARITHMS_FILE, slow)
    write_csv(out / "games.csv", tables.items(*GAME), _games(lines, request, results))


def _games(lines: list[Line], request: Request, results: Results) -> Iterator[dict[str, object]]:
    for line in lines:
        for cell in cells(line.case, request):
            for game in results[cell.key]:
                yield {
                    "case": line.case.key,
                    "horizon": cell.horizon,
                    "seed": game["seed"],
                    "regret": six_decimals(game["regret"]),
                }


def _points(line: Line) -> Iterator[dict[str, object]]:
    curve = line.curve
    for horizon, mean, error in zip(curve.sizes, curve.means, curve.errors, strict=True):
        yield {
            "case": line.case.key,
            "horizon": int(horizon),
            "regret": six_decimals(mean),
            "error": six_decimals(error),
        }
