"""From finished cells to measured exponents, and to files that other programs read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dikin.experiments.fit import Curve, PowerFit
from dikin.experiments.rates.plan import Request, cells
from dikin.experiments.rates.rate_cases import RateCase
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, exact, exponent, gap, whole, write_csv

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
        return cls(case, Curve.of(f"rates/{case.key}", parts))

    @property
    def fit(self) -> PowerFit:
        return self.curve.power

    @property
    def proved(self) -> float:
        return self.case.bound.exponent(self.curve.sizes)

    @property
    def gap(self) -> float:
        """Measured minus proved exponent."""
        return self.fit.exponent - self.proved


# --- as text ------------------------------------------------------------------------------------

SHOWN: Columns[Line] = {
    "case": lambda line: line.case.key,
    "proved": lambda line: line.case.bound.power or "ln T",
    "measured": lambda line: exponent(line.fit.exponent),
    "95%": lambda line: f"{exponent(line.fit.low)}-{exponent(line.fit.high)}",
    "gap": lambda line: gap(line.gap) + (" !" if abs(line.gap) > BAND else ""),
    "up to T": lambda line: whole(line.curve.sizes[-1]),
}
RATES_FILE: Columns[Line] = {
    "ground": lambda line: line.case.key,
    "learner": lambda line: line.case.learner,
    "losses": lambda line: line.case.losses,
    "bound": lambda line: line.case.bound,
    "proved": lambda line: exact(line.proved),
    "bound_slope": lambda line: exact(line.case.bound.slope(line.curve.sizes)),
    "measured": lambda line: exact(line.fit.exponent),
    "low": lambda line: exact(line.fit.low),
    "high": lambda line: exact(line.fit.high),
    "gap": lambda line: exact(line.gap),
    "games": lambda line: line.curve.games,
}
REGRETS_FILE: Columns[tuple[Line, int]] = {
    "ground": lambda point: point[0].case.key,
    "horizon": lambda point: int(point[0].curve.sizes[point[1]]),
    "regret": lambda point: exact(point[0].curve.means[point[1]]),
    "error": lambda point: exact(point[0].curve.errors[point[1]]),
}
LOGARITHMS_FILE: Columns[Line] = {
    "ground": lambda line: line.case.key,
    "start": lambda line: exact(line.curve.logarithm.start),
    "step": lambda line: exact(line.curve.logarithm.step),
    "misfit": lambda line: exact(line.curve.misfit(line.curve.logarithm)),
    "power_misfit": lambda line: exact(line.curve.misfit(line.fit)),
}


def write_files(lines: list[Line], out: Path) -> None:
    """rates.csv, a row per case; regrets.csv, a row per horizon; logarithms.csv."""
    write_csv(out / "rates.csv", RATES_FILE, lines)
    points = ((line, i) for line in lines for i in range(line.curve.sizes.size))
    write_csv(out / "regrets.csv", REGRETS_FILE, points)
    slow = [line for line in lines if line.case.bound.power == 0]
    write_csv(out / "logarithms.csv", LOGARITHMS_FILE, slow)
