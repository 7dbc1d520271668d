"""Coverage of the uplift's interval, false holds of the guard, and power, in simulated loops.

Coverage: in how many loops is the true gain outside the 95 % interval at any time between round 50
and 5 000? Guard: when does it hold, and how often without reason? Power: how many rounds does it
take to see a gain? About two minutes on one core.

    python benchmarks/uplift_coverage.py [--loops N] [--out FOLDER] [--page PAGE]

The loops of a kind are simulated together, as arrays, by formulas that are written here once more;
`tests/worth/test_coverage.py` compares them with `dikin.worth` number by number.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from math import exp
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import lambertw

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from report import Block, publish_blocks

from dikin.experiments import source
from dikin.experiments.tables import fields, write_csv
from dikin.worth import rounds_to_see
from dikin.worth.clipping import QUANTILE, STEP, TIMES
from dikin.worth.estimate import RECENT
from dikin.worth.offsets import LONG, MEMORY
from dikin.worth.sums import FEWEST, NARROWEST

LOOPS, ROUNDS, FIRST, SEED = 2000, 5000, 50, 26_000
"""Seeds and numbers of loops were fixed before the first run."""
ALPHA = 0.05
FORECAST = 64
"""Rounds that the forecast of the simulated tuner remembers."""

Array = np.typing.NDArray[np.float64]
Marks = np.typing.NDArray[np.bool_]
Generator = np.random.Generator


# --- what is simulated ---------------------------------------------------------------------------


class Round(NamedTuple):
    """One round of all loops: the mean values of either arm, and the values with their noise."""

    tuned_mean: float
    control_mean: float
    tuned: Array
    control: Array
    fault: Array | float = 1.0
    """What the value is multiplied by before it is told."""

    def told(self, held: Marks) -> Array:
        return np.where(held, self.control, self.tuned) * self.fault


class Kind(NamedTuple):
    """Loops of one kind."""

    about: str
    rounds: Callable[[Generator, int, int], Iterator[Round]]
    holdback: float = 0.05
    value_range: tuple[float, float] | None = None


def normal(chance: Generator, loops: int) -> Array:
    """Noise of either arm, with a standard deviation of a tenth of the value."""
    return 10.0 * chance.standard_normal((2, loops))


def student(chance: Generator, loops: int) -> Array:
    """Noise whose fourth moment does not exist, and the third neither."""
    return 10.0 * chance.standard_t(2.5, (2, loops))


def skewed(chance: Generator, loops: int) -> Array:
    """Noise with a skewness of 6, as revenues have."""
    noise: Array = 10.0 * (chance.lognormal(0.0, 1.0, (2, loops)) - np.exp(0.5))
    return noise


def noisy_control(chance: Generator, loops: int) -> Array:
    """The control is four times as noisy."""
    noise: Array = normal(chance, loops) * np.array([[1.0], [4.0]])
    return noise


def loops_of(
    chance: Generator,
    loops: int,
    rounds: int,
    *,
    level: Callable[[int], float] = lambda t: 100.0,
    gain: Callable[[int], float] = lambda t: 4.0,
    noise: Callable[[Generator, int], Array] = normal,
    scale: Callable[[int], float] = lambda t: 1.0,
    faults: float = 0.0,
) -> Iterator[Round]:
    """Values of a level, with a gain, noise and a share of faults, all times a scale."""
    for t in range(1, rounds + 1):
        control = level(t) * scale(t)
        tuned = control + gain(t) * scale(t)
        e = noise(chance, loops) * scale(t)
        fault = np.where(chance.random(loops) < faults, 40.0, 1.0) if faults else 1.0
        yield Round(tuned, control, tuned + e[0], control + e[1], fault)


def autocorrelated(chance: Generator, loops: int, rounds: int) -> Iterator[Round]:
    """Most of the noise is common to both arms, with a correlation of 0.9 between rounds."""
    common = 10.0 * chance.standard_normal(loops)
    for _ in range(rounds):
        common = 0.9 * common + 10.0 * np.sqrt(1 - 0.81) * chance.standard_normal(loops)
        own = common + 3.0 * chance.standard_normal((2, loops))
        yield Round(104.0, 100.0, 104.0 + own[0], 100.0 + own[1])


def rare(chance: Generator, loops: int, rounds: int) -> Iterator[Round]:
    """A purchase of 100 in three rounds of a hundred; tuned, in 3.6."""
    for _ in range(rounds):
        bought = chance.random((2, loops)) < [[0.036], [0.03]]
        yield Round(3.6, 3.0, 100.0 * bought[0], 100.0 * bought[1])


def bounded(chance: Generator, loops: int, rounds: int) -> Iterator[Round]:
    """Values between 0 and 1."""
    for _ in range(rounds):
        yield Round(2.2 / 4.2, 0.5, chance.beta(2.2, 2, loops), chance.beta(2, 2, loops))


def wave(low: float, high: float, length: float, begin: float = 0.0) -> Callable[[int], float]:
    """A number that goes up and down."""
    middle, half = (low + high) / 2, (high - low) / 2
    return lambda t: middle + half * float(np.sin(2 * np.pi * t / length + begin))


KINDS = {
    "still": Kind("nothing changes", loops_of),
    "drifting": Kind(
        "level 70 to 130 in 3 000 rounds, gain -6 to 6 in 4 000",
        partial(loops_of, level=wave(70, 130, 3000), gain=wave(-6, 6, 4000, 1.0)),
    ),
    "improving": Kind(
        "the gain grows from -2 to 6", partial(loops_of, gain=lambda t: 6 - 8 / (1 + t / 50) ** 0.5)
    ),
    "heavy tails": Kind("Student's t, 2.5 degrees of freedom", partial(loops_of, noise=student)),
    "skewed": Kind("lognormal noise", partial(loops_of, noise=skewed)),
    "autocorrelated": Kind("noise with a correlation of 0.9", autocorrelated),
    "season": Kind("level 70 to 130 in 200 rounds", partial(loops_of, level=wave(70, 130, 200))),
    "outliers": Kind("one value in a hundred times 40", partial(loops_of, faults=0.01)),
    "other scale": Kind(
        "all values times 10 from round 2 000",
        partial(loops_of, scale=lambda t: 10.0 if t >= 2000 else 1.0),
    ),
    "noisy control": Kind("noise of the control times 4", partial(loops_of, noise=noisy_control)),
    "rare": Kind("a purchase in 3 % of the rounds", rare),
    "tiny holdback": Kind("2 % held back", loops_of, 0.02),
    "large holdback": Kind("20 % held back", loops_of, 0.2),
    "bounded": Kind("values in [0, 1]", bounded, 0.05, (0.0, 1.0)),
}


# --- the estimate, for many loops at once --------------------------------------------------------


@cache
def best_product(alpha: float) -> float:
    """The x at which (1 + 1/x) ln((x + 1)/alpha^2) is least, by Lambert's function."""
    return -1.0 - float(lambertw(-(alpha**2) / exp(1.0), -1).real)


@dataclass
class ManySums:
    """Sums over the same rounds of many loops."""

    loops: int
    rounds: int = 0
    held_back: Array = field(init=False)
    values: Array = field(init=False)
    squares: Array = field(init=False)
    first_spread: Array = field(init=False)

    def __post_init__(self) -> None:
        self.held_back, self.first_spread = np.zeros(self.loops), np.zeros(self.loops)
        self.values, self.squares = np.zeros((2, self.loops)), np.zeros((2, self.loops))

    def add(self, residual: Array, held: Marks, guesses: Array, q: float) -> None:
        """Add a round of every loop."""
        self.rounds += 1
        self.held_back += held
        weights = np.array([~held / (1 - q), held / q])
        self.values += guesses + weights * residual
        self.squares += np.array([~held, held]) * residual**2
        new = (self.first_spread == 0) & (self.held_back >= FEWEST)
        if new.any():
            self.first_spread[new] = self.spreads(q).sum(axis=0)[new]

    def spreads(self, q: float) -> Array:
        """The variances of the two sums."""
        answers = np.maximum([self.rounds - self.held_back, self.held_back], 1)
        tuned, control = self.squares / answers
        control = np.maximum(control * (1 + 2 / answers[1]), tuned)
        return self.rounds * np.array([tuned / (1 - q), control / q])

    def factor(self, q: float, alpha: float) -> Array:
        """The square of half an interval, over the variance."""
        with np.errstate(divide="ignore", invalid="ignore"):
            grown = (
                best_product(alpha)
                * self.spreads(q).sum(axis=0)
                / (self.first_spread * NARROWEST / FEWEST)
            )
            found = (1 + 1 / grown) * np.log((grown + 1) / alpha**2)
        return np.where(self.first_spread > 0, found, np.inf)

    def interval(self, q: float, alpha: float, weight: float = 1.0) -> tuple[Array, Array]:
        """Middle and half of the interval of the sum of v(tuned) - weight v(control)."""
        tuned, control = self.spreads(q)
        with np.errstate(invalid="ignore"):
            half = np.sqrt(self.factor(q, alpha) * (tuned + weight**2 * control))
        return self.values[0] - weight * self.values[1], np.where(
            self.first_spread > 0, half, np.inf
        )


class ManyEstimates:
    """`UpliftEstimate` and a forecast, for many loops at once."""

    def __init__(self, loops: int, q: float, value_range: tuple[float, float] | None) -> None:
        self.q, self.value_range, self.loops = q, value_range, loops
        self.level = np.full(loops, np.inf)
        self.tuned_offset, self.control_offsets = np.zeros(loops), np.zeros((2, loops))
        """The latter for a control that moves with the forecast, and for one that does not."""
        self.offset_squares = np.zeros((2, loops))
        self.forecast: Array | None = None
        self.mean_forecast: Array | None = None
        self.answers, self.tuned_rounds = np.zeros(loops), np.zeros(loops)
        self.all, self.windows, self.first_window = ManySums(loops), [ManySums(loops)], 0
        self.window = int(np.ceil(RECENT / q))

    def add(self, value: Array, held: Marks) -> bool:
        """A round of every loop; whether it was counted."""
        counted = self.forecast is not None
        if self.forecast is None:
            # Nothing is known before: the first values are the forecast, and are not counted.
            self.forecast = value.copy()
        else:
            self._count(value, held, self.forecast)
        return counted

    def guesses(self, forecast: Array) -> Array:
        """Those of either arm."""
        total = self.offset_squares.sum(axis=0)
        mixed = (self.offset_squares[::-1] * self.control_offsets).sum(axis=0)
        control = np.where(
            total > 0, mixed / np.where(total > 0, total, 1), self.control_offsets[0]
        )
        found = np.array([forecast + self.tuned_offset, forecast + control])
        return found if self.value_range is None else np.clip(found, *self.value_range)

    def _count(self, value: Array, held: Marks, forecast: Array) -> None:
        guesses = self.guesses(forecast)
        guess = np.where(held, guesses[1], guesses[0])
        raw = value - guess
        residual = np.clip(raw, -self.level, self.level)
        for sums in (self.all, *self.windows):
            sums.add(residual, held, guesses, self.q)
        if self.all.rounds % self.window == 0:
            self.windows = [*self.windows, ManySums(self.loops)][-2:]
            self.first_window = self.all.rounds // self.window - 1
        if self.value_range is None:
            self._move_level(np.abs(raw))
        self._move_offsets(guess + residual - forecast, held, forecast)
        step = (guess + residual - forecast) / np.minimum(self.tuned_rounds + 1, FORECAST)
        self.forecast = forecast + ~held * step

    def _move_offsets(self, distance: Array, held: Marks, forecast: Array) -> None:
        errors = distance - self.control_offsets
        window = np.clip(self.answers, 1, MEMORY)
        later = held & (self.answers > 0)
        self.offset_squares += later * (errors**2 - self.offset_squares) / window
        self.answers += held
        self.control_offsets += held * errors / np.clip(self.answers, 1, MEMORY)
        self.tuned_rounds += ~held
        step = (distance - self.tuned_offset) / np.minimum(self.tuned_rounds + 1, MEMORY)
        self.tuned_offset += ~held * step
        if self.mean_forecast is None:
            self.mean_forecast = forecast.copy()
        step = (forecast - self.mean_forecast) / min(self.all.rounds, LONG)
        self.mean_forecast += step
        self.control_offsets[1] -= step

    def _move_level(self, size: Array) -> None:
        moved = self.level * np.exp(
            np.where(size * TIMES > self.level, STEP * QUANTILE, STEP * (QUANTILE - 1))
        )
        begun = np.where(np.isinf(self.level), TIMES * size, moved)
        self.level = np.where(size > 0, begun, self.level)

    def window_alpha(self, place: int) -> float:
        """The share of the error of a window."""
        index = self.first_window + place
        return ALPHA / ((index + 1) * (index + 2))

    def is_short(self, limit: float) -> Marks:
        """Whether tuning is surely worse than a limit allows; large values are good."""
        found = np.zeros(self.loops, dtype=bool)
        windows = ((sums, self.window_alpha(i)) for i, sums in enumerate(self.windows))
        for sums, alpha in ((self.all, ALPHA), *windows):
            ends = [np.add(*sums.interval(self.q, alpha, w)) for w in (1 - limit, 1 + limit)]
            found |= (ends[0] < 0) & (ends[1] < 0)
        return found


# --- coverage ------------------------------------------------------------------------------------


class Coverage(NamedTuple):
    """A line of the CSV: shares of the loops in which the truth was outside at some time."""

    kind: str
    holdback: float
    loops: int
    begins: int
    """The median round in which there is an interval for the first time."""
    missed: float
    """The mean gain of the settings."""
    missed_realised: float
    """The mean gain with the noise that either arm met in the round; without faults."""
    missed_recent: float
    """The gain of the recent rounds, which the guard looks at."""
    missed_percent: float
    """The gain in per cent."""
    missed_fixed: float
    """By an interval that is valid in one round only: what goes wrong without this."""
    half_1000: float
    half_5000: float
    """Half of the width, median, in per cent of the control."""


def cover(name: str, loops: int, rounds: int = ROUNDS) -> Coverage:
    """Play all loops of a kind and look at every round."""
    kind, seed = KINDS[name], [SEED, [*KINDS].index(name)]
    values, coins = np.random.default_rng([*seed, 0]), np.random.default_rng([*seed, 1])
    many = ManyEstimates(loops, kind.holdback, kind.value_range)
    truth = {"mean": np.zeros((2, loops)), "realised": np.zeros((2, loops))}
    recent = [np.zeros(loops)]
    outside = {key: np.zeros(loops, dtype=bool) for key in Coverage._fields[4:9]}
    begins, halves = np.full(loops, rounds), {1000: np.nan, 5000: np.nan}
    for t, turn in enumerate(kind.rounds(values, loops, rounds), start=1):
        held = coins.random(loops) < kind.holdback
        if not many.add(turn.told(held), held):
            continue
        truth["mean"] += [[turn.tuned_mean], [turn.control_mean]]
        truth["realised"] += np.array([turn.tuned, turn.control])
        for sums in recent:
            sums += turn.tuned_mean - turn.control_mean
        if many.all.rounds % many.window == 0:
            recent = [*recent, np.zeros(loops)][-2:]
        half = many.all.interval(kind.holdback, ALPHA)[1]
        begins = np.where(np.isfinite(half), np.minimum(begins, t), begins)
        if t >= FIRST:
            look(many, truth, recent[0], outside)
        if t in halves:
            halves[t] = float(np.median(half / truth["mean"][1])) * 100
    shares = [float(np.mean(marks)) for marks in outside.values()]
    return Coverage(name, kind.holdback, loops, int(np.median(begins)), *shares, *halves.values())


def look(
    many: ManyEstimates, truth: dict[str, Array], recent: Array, outside: dict[str, Marks]
) -> None:
    """Mark the loops whose truth is outside now."""
    q, sums = many.q, many.all
    middle, half = sums.interval(q, ALPHA)
    mean, realised = (arms[0] - arms[1] for arms in truth.values())
    outside["missed"] |= np.abs(middle - mean) > half
    outside["missed_realised"] |= np.abs(middle - realised) > half
    recent_middle, recent_half = many.windows[0].interval(q, many.window_alpha(0))
    outside["missed_recent"] |= np.abs(recent_middle - recent) > recent_half
    ratio = truth["mean"][0] / truth["mean"][1]
    tuned, control = sums.spreads(q)
    with np.errstate(invalid="ignore"):
        far = (sums.values[0] - ratio * sums.values[1]) ** 2 > sums.factor(q, ALPHA) * (
            tuned + ratio**2 * control
        )
    outside["missed_percent"] |= far & np.isfinite(half)
    fixed = 1.96 * np.sqrt(tuned + control)
    outside["missed_fixed"] |= (np.abs(middle - mean) > fixed) & np.isfinite(half)


def percent(share: float) -> str:
    """A share of the loops."""
    return f"{100 * share:.1f} %"


def coverage_block(rows: list[Coverage]) -> Block:
    """The table of coverage."""
    head = [
        f"coverage: outside at any time, {rows[0].loops:,} loops each",
        *("begins", "all rounds", "with noise", "recent", "in per cent", "fixed time"),
        *("half width, round 1 000", "round 5 000"),
    ]
    lines = [
        [
            f"{row.kind}: {KINDS[row.kind].about}",
            f"{row.begins:,}",
            *(percent(share) for share in row[4:9]),
            *(f"{half:.{1 if half < 10 else 0}f} %" for half in row[9:11]),
        ]
        for row in rows
    ]
    above = [row.kind for row in rows if max(row.missed, row.missed_realised) > ALPHA]
    where = f"more in {', '.join(above)}" if above else "held in all kinds"
    return Block("coverage", head, lines, [f"At most 5 % of the loops are wanted: {where}."])


# --- guard ---------------------------------------------------------------------------------------

LIMIT, HARM_AT, HARM_LOOPS, GUARD_ROUNDS = 0.02, 1000, 500, 5000
HARMS = (-4.0, -6.0, -10.0, -20.0)
"""Gains, in per cent of the control, from round 1 000 on."""
HARMLESS: dict[str, Callable[[int], float]] = {
    "no gain": lambda t: 0.0,
    "a gain of 4": lambda t: 4.0,
    "at the limit": lambda t: -2.0,
}


class Held(NamedTuple):
    """A line of the CSV."""

    kind: str
    holdback: float
    loops: int
    held: float
    """The share of the loops in which the guard held."""
    median: float
    most: float
    """Rounds from the harm on: median, and 95 % quantile."""


def guard_loops(
    kind: str,
    gain: Callable[[int], float],
    q: float,
    loops: int,
    begin: int,
    number: int,
    rounds: int = GUARD_ROUNDS,
) -> Held:
    """Loops with a guard that holds at most once."""
    values, coins = (np.random.default_rng([SEED, 100, number, i]) for i in (0, 1))
    many, held_at = ManyEstimates(loops, q, None), np.full(loops, np.inf)
    turns = loops_of(values, loops, rounds, gain=gain)
    for t, turn in enumerate(turns, start=1):
        held = coins.random(loops) < q
        if many.add(turn.told(held), held):
            held_at = np.where(many.is_short(LIMIT) & np.isinf(held_at), t, held_at)
    delay = held_at - begin
    return Held(
        kind,
        q,
        loops,
        float(np.mean(np.isfinite(held_at))),
        *(float(x) for x in np.quantile(delay, [0.5, 0.95], method="higher")),
    )


Case = tuple[str, Callable[[int], float], float, int, int]


def guard_rows(loops: int) -> list[Held]:
    """Harm of several sizes, and none."""
    harmful: list[Case] = [
        (f"{-harm:g} % worse", partial(_from_harm, harm), q, min(loops, HARM_LOOPS), HARM_AT)
        for q, harm in product((0.05, 0.1), HARMS)
    ]
    harmless: list[Case] = [
        (f"harmless: {name}", gain, 0.05, loops, 0) for name, gain in HARMLESS.items()
    ]
    return [guard_loops(*case, i) for i, case in enumerate([*harmful, *harmless])]


def _from_harm(harm: float, t: int) -> float:
    return harm if t >= HARM_AT else 4.0


def guard_block(rows: list[Held]) -> Block:
    """The table of the guard."""
    head = [
        f"guard: limit {100 * LIMIT:g} %, noise 10 %, {GUARD_ROUNDS:,} rounds",
        *("held back", "loops", "held", "rounds until held, median", "95 % of the loops"),
    ]
    lines = [
        [
            row.kind,
            f"{100 * row.holdback:g} %",
            f"{row.loops:,}",
            percent(row.held),
            *("" if "harmless" in row.kind else _count(x) for x in (row.median, row.most)),
        ]
        for row in rows
    ]
    worst = max(row.held for row in rows if "harmless" in row.kind)
    note = f"Held without reason in at most {percent(worst)} of the loops; 5 % are allowed."
    return Block("guard", head, lines, [note])


def _count(rounds: float) -> str:
    return f"{rounds:,.0f}" if np.isfinite(rounds) else f"more than {GUARD_ROUNDS - HARM_AT:,}"


# --- power ---------------------------------------------------------------------------------------

GAINS, NOISES, EXPLAINED = (1.0, 2.0, 5.0, 10.0), (5.0, 20.0, 50.0), (0.0, 0.5, 0.9)


class Power(NamedTuple):
    """A line of the CSV."""

    holdback: float
    noise: float
    explained: float
    gain: float
    rounds: int


def power_rows() -> list[Power]:
    """Computed, not simulated."""
    return [
        Power(q, noise, share, gain, round(rounds_to_see(gain, noise, q, explained=share)))
        for q, noise, share, gain in product((0.05, 0.1), NOISES, EXPLAINED, GAINS)
    ]


def power_block(rows: list[Power]) -> Block:
    """The table of rounds."""
    head = [
        "power: rounds to see a gain in four of five loops",
        *(f"{gain:g} %" for gain in GAINS),
    ]
    lines = [
        [
            f"{100 * q:g} % held back, noise {noise:g} %, R² = {share:g}",
            *(f"{row.rounds:,}" for row in rows if row[:3] == (q, noise, share)),
        ]
        for q, noise, share in dict.fromkeys(row[:3] for row in rows)
    ]
    return Block("power", head, lines, [])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--loops", type=int, default=LOOPS, help=f"of each kind ({LOOPS})")
    parser.add_argument("--out", type=Path, help="a folder for the CSVs")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew")
    chosen = parser.parse_args()
    covered = [cover(name, chosen.loops) for name in KINDS]
    guarded, power = guard_rows(chosen.loops), power_rows()
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "coverage.csv", fields(*Coverage._fields), covered)
        source.record(chosen.out / "coverage.csv", {"loops": chosen.loops}, source.WORTH)
        write_csv(chosen.out / "guard.csv", fields(*Held._fields), guarded)
        write_csv(chosen.out / "power.csv", fields(*Power._fields), power)
    blocks = [coverage_block(covered), guard_block(guarded), power_block(power)]
    publish_blocks(blocks, chosen.page)


if __name__ == "__main__":
    main()
