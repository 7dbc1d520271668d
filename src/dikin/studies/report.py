"""A report on the study of a tuner: one HTML page that needs nothing else.

The pictures are SVG whose colours are those of the page, in the light, in the dark and on paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from math import ceil, floor, isfinite, log10
from typing import NamedTuple

import numpy as np

from dikin.plotting.curves import marks, stretches
from dikin.plotting.history import UpliftCourse
from dikin.plotting.panels import number_text
from dikin.status import Status, setting_text, value_text
from dikin.tuning.history import BEST, uplift_course
from dikin.tuning.tuner import MOST_SHOWN
from dikin.vectors import Array, Table
from dikin.worth.uplift import Uplift, signed

WIDTHS = {"wide": 720, "narrow": 350}
"""Of a picture, on a desk and on paper, and on a phone: numbers are as large on both."""
HEIGHT, SMALL = 250, 110
"""Of a picture, and of a small one."""
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 10, 24
"""Around it."""
MOST_PICTURES = 8
"""Settings that are drawn."""
MOST_PAUSES = 12
"""Pauses that are listed."""

CSS = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1d2327; --soft: #5b656c; --rule: #d9dee1;
  --blue: #0072b2; --band: #0072b22e; --care: #7a4a00; --care-ground: #fff3dc; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181b; --ink: #e8ecee; --soft: #a3adb4;
  --rule: #343c42; --blue: #5ab4e8; --band: #5ab4e838; --care: #ffd591; --care-ground: #3a2c10; } }
@media print { :root { color-scheme: light; --ground: #fff; --ink: #000; --soft: #444; --rule: #bbb;
  --blue: #0072b2; --band: #0072b22e; --care: #5c3800; --care-ground: #fff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.5;
  font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 48rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .5rem; padding-top: .7rem;
  border-top: 1px solid var(--rule); }
p { margin: .5rem 0; } .soft, .how, figcaption { color: var(--soft); }
.how { font-size: .9rem; } .care { background: var(--care-ground); color: var(--care);
  padding: .7rem 1rem; border: 1px solid currentcolor; border-radius: 6px; }
.gain { font-size: 3rem; font-weight: 300; line-height: 1.15; margin: .6rem 0 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; overflow-wrap: break-word; }
thead th { color: var(--soft); font-weight: 500; font-size: .9rem; }
figure { margin: 1rem 0 0; } figcaption { font-size: .9rem; }
svg { display: block; width: 100%; height: auto; } .narrow { display: none; }
@media screen and (max-width: 34rem) { .wide { display: none; } .narrow { display: block; } }
.band { fill: var(--band); } .line { fill: none; stroke: var(--blue); stroke-width: 2; }
.zero { stroke: var(--soft); stroke-dasharray: 5 4; } .grid { stroke: var(--rule); }
text { fill: var(--soft); font-size: 12px; font-family: inherit; }
@page { margin: 16mm; }
@media print { html { font-size: 10pt; } main { padding: 0; max-width: none; }
  h2 { margin-top: 1.6rem; break-after: avoid; } section, figure, tr { break-inside: avoid; }
  section.long { break-inside: auto; } .band, .line { print-color-adjust: exact; } }
"""


def report_page(status: Status, rounds: Table, times: tuple[float, float]) -> str:
    """The report as an HTML page; `times` are those of the first and the last round, since 1970."""
    title = f"{status.name}: what tuning is worth"
    parts = (
        _head(status, rounds, times),
        _gain(status, rounds),
        _settings(status),
        _pictures(status, rounds),
        _guard(status, rounds),
        _certificate(status),
    )
    body = "\n".join(line for part in parts for line in part).replace(" %", "\u00a0%")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


# --- sections ------------------------------------------------------------------------------------


def _head(status: Status, rounds: Table, times: tuple[float, float]) -> Iterator[str]:
    first, last = (datetime.fromtimestamp(each, UTC) for each in times)
    sense = "larger values are better" if status.maximize else "smaller values are better"
    yield f"<h1>{escape(str(status.name))}</h1>"
    yield (
        f'<p class="soft">Tuned: {escape(", ".join(status.best or {}))}; {sense}. '
        f"{status.rounds:,} rounds, {_moment(first)} to {_moment(last)} UTC.</p>"
    )
    if rounds["round"][0] > 1:
        yield f'<p class="soft">The pictures begin with round {rounds["round"][0]:,}.</p>'
    for warning in status.warnings:
        yield f'<p class="care">{escape(warning)}</p>'


def _moment(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _gain(status: Status, rounds: Table) -> Iterator[str]:
    yield "<section><h2>What tuning gains</h2>"
    if status.uplift is None:
        yield (
            "<p>Not known: no rounds are held back. With <code>holdback=0.05</code> one round in "
            "twenty uses the control, and this page has the gain of the others.</p>"
        )
    elif not status.uplift.is_known:
        yield f"<p>{escape(str(status.uplift))}.</p>"
    else:
        yield from _known_gain(status, status.uplift, rounds)
    yield "</section>"


def _known_gain(status: Status, uplift: Uplift, rounds: Table) -> Iterator[str]:
    course = uplift_course(rounds, status)
    unit, (mean, low, high) = course.unit, _parts(uplift)
    yield f'<p class="gain">{mean}{unit}</p>'
    yield (
        f"<p>is what a tuned round gains over the control "
        f"({escape(setting_text(status.control or {}))}); with {100 * uplift.confidence:g} % "
        f"confidence, between {low}{unit} and {high}{unit}. That is {uplift.total_text} in "
        f"{uplift.tuned_rounds:,} tuned rounds. {uplift.held_back_rounds:,} rounds were held back; "
        f"the control's mean value is {number_text(uplift.control_mean)}.</p>"
    )
    yield _uplift_picture(course)
    yield (
        '<p class="how">How to read it: an independent coin held rounds back, which played the '
        "control; the gain is the difference between the two kinds of rounds, with what is known "
        "of either taken off beforehand. The interval may be looked at whenever one likes: the "
        f"true mean gain so far is outside at any time with a probability of "
        f"{100 * (1 - uplift.confidence):.3g} % at most. If all of it lies above 0, tuning pays. "
        "Pauses and failed trials are not counted.</p>"
    )


def _parts(uplift: Uplift) -> tuple[str, str, str]:
    if uplift.has_percent:
        numbers = uplift.mean_percent, uplift.low_percent, uplift.high_percent
    else:
        numbers = uplift.mean, uplift.low, uplift.high
    mean, low, high = (text.replace("-", "\u2212") for text in signed(numbers))
    return mean, low, high


def _settings(status: Status) -> Iterator[str]:
    before, best = status.control or status.start or {}, status.best or {}
    what = "Control" if status.control else "At the start"
    yield "<section><h2>The setting, before and after</h2><table><thead><tr>"
    now = "Best now, in the mean of contexts" if status.contexts else "Best now"
    yield f'<th scope="col">Setting</th><th scope="col">{what}</th><th scope="col">{now}</th>'
    yield "</tr></thead><tbody>"
    for name, value in best.items():
        cells = value_text(before[name]), value_text(value)
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        yield f'<tr><th scope="row">{escape(name)}</th>{row}</tr>'
    yield "</tbody></table>"
    if status.best_value is not None:
        mean, low, high = map(number_text, status.best_value)
        yield f"<p>The expected value of the best setting is {mean} (95 %: {low} to {high}).</p>"
    if status.limits:
        yield f"<p>It has to keep {escape(', '.join(status.limits))}.</p>"
    if status.failed or status.left_out:
        yield (
            f"<p>{status.failed:,} trials failed, and {status.left_out:,} values were left out or "
            "bounded because they look like faults.</p>"
        )
    yield (
        '<p class="how">How to read it: exploring goes on around the best setting. With a '
        "probability of 95 %, the mean value at the best setting is in the interval.</p>"
    )
    yield from _by_context(status)
    yield "</section>"


def _by_context(status: Status) -> Iterator[str]:
    if not status.by_context:
        return
    yield f'<table><thead><tr><th scope="col">{escape(", ".join(status.contexts or {}))}</th>'
    yield '<th scope="col">Best now</th></tr></thead><tbody>'
    for label, setting in status.by_context.items():
        row = f'<th scope="row">{escape(label)}</th><td>{escape(setting_text(setting))}</td>'
        yield f"<tr>{row}</tr>"
    yield "</tbody></table>"
    yield (
        '<p class="how">How to read it: every context has a setting of its own; between two '
        f"numbers it changes smoothly. The first {MOST_SHOWN} contexts are listed.</p>"
    )


def _pictures(status: Status, rounds: Table) -> Iterator[str]:
    yield '<section class="long"><h2>How it got there</h2>'
    at = marks(len(rounds))
    for column in status.columns[:MOST_PICTURES]:
        x, y = (rounds[name][at].astype(float) for name in ("round", BEST + column))
        yield _line_picture(column, x, y)
    left_out = len(status.columns) - MOST_PICTURES
    more = f" {left_out} more are not drawn." if left_out > 0 else ""
    yield f'<p class="how">How to read it: the best setting after each round.{more}</p></section>'


def _guard(status: Status, rounds: Table) -> Iterator[str]:
    yield "<section><h2>Guard and pauses</h2>"
    if status.guard is None:
        yield "<p>No guard was set.</p>"
    else:
        state = status.guard_reason or "It does not hold now."
        yield (
            f"<p>The guard uses the control as soon as tuned rounds are surely worse by more than "
            f"{100 * status.guard:g} %, until somebody resumes. {escape(state)}</p>"
        )
    spans = stretches(rounds["paused"], 0)
    texts = [f"{rounds['round'][a]:,} to {rounds['round'][b - 1]:,}" for a, b in spans]
    if texts:
        more = f", and {len(texts) - MOST_PAUSES} more" if len(texts) > MOST_PAUSES else ""
        yield f"<p>Paused in the rounds {', '.join(texts[:MOST_PAUSES])}{more}.</p>"
    else:
        yield "<p>It was never paused.</p>"
    yield "</section>"


def _certificate(status: Status) -> Iterator[str]:
    if not isfinite(status.certificate):
        return
    yield (
        "<section><h2>Certificate</h2>"
        f"<p>{number_text(status.certificate)} for all tuned rounds so far.</p>"
        '<p class="how">How to read it: on average, all tuned rounds together were at most so much '
        "worse than the best fixed setting would have been, for values with the declared "
        "constants. It is a proof, not an estimate, and the truth is usually far below.</p>"
        "</section>"
    )


# --- pictures ------------------------------------------------------------------------------------


class Scale(NamedTuple):
    """Where the numbers of a picture are."""

    first: float
    last: float
    low: float
    high: float
    width: int
    height: int

    def x(self, value: float) -> float:
        share = (value - self.first) / ((self.last - self.first) or 1.0)
        return LEFT + share * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)

    def path(self, x: Array, y: Array) -> str:
        points = zip(x.tolist(), y.tolist(), strict=True)
        return "L".join(f"{self.x(a):.1f} {self.y(b):.1f}" for a, b in points)

    def level(self, kind: str, value: float) -> str:
        """A line at one height."""
        return f'<path class="{kind}" d="M{LEFT} {self.y(value):.1f}H{self.width - RIGHT}"/>'

    def axes(self, unit: str = "") -> Iterator[str]:
        for tick in ticks(self.low, self.high, 4 if self.height > SMALL else 2):
            yield self.level("grid", tick)
            text, y = f"{tick:,.10g}{unit}".replace("-", "\u2212"), self.y(tick) + 4
            yield f'<text x="{LEFT - 8}" y="{y:.1f}" text-anchor="end">{text}</text>'
        right, bottom = self.width - RIGHT, self.height - 6
        yield f'<text x="{LEFT}" y="{bottom}">round {self.first:,.0f}</text>'
        yield f'<text x="{right}" y="{bottom}" text-anchor="end">{self.last:,.0f}</text>'


def ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers in a range in increasing order, about as many as wanted, and two at least."""
    if not high > low:
        return [low]
    rough = (high - low) / count
    size = 10.0 ** floor(log10(rough))
    step = next(times * size for times in (1, 2, 5, 10) if times * size >= 0.999 * rough)
    found = [round(k * step, 12) for k in range(ceil(low / step), floor(high / step) + 1)]
    return found if len(found) > 1 else ticks(low, high, 2 * count)


def _uplift_picture(course: UpliftCourse) -> str:
    known, (low, high) = course.known, course.limits
    x = known["round"].astype(float)
    lower, mean, upper = (np.clip(known[part], low, high) for part in ("low", "mean", "high"))

    def drawn(width: int) -> Iterator[str]:
        scale = Scale(float(x[0]), float(x[-1]), low, high, width, HEIGHT)
        yield from scale.axes(course.unit)
        above, below = scale.path(x, upper), scale.path(x[::-1], lower[::-1])
        yield f'<path class="band" d="M{above}L{below}Z"/>'
        yield scale.level("zero", 0.0)
        yield f'<path class="line" d="M{scale.path(x, mean)}"/>'

    caption = "The gain of a round over the control so far, and its interval, which narrows."
    return _figure(drawn, HEIGHT, "Gain over the control", caption)


def _line_picture(name: str, x: Array, y: Array) -> str:
    low, high = float(y.min()), float(y.max())
    room = 0.08 * ((high - low) or abs(high) or 1.0)

    def drawn(width: int) -> Iterator[str]:
        scale = Scale(float(x[0]), float(x[-1]), low - room, high + room, width, SMALL)
        yield from scale.axes()
        yield f'<path class="line" d="M{scale.path(x, y)}"/>'

    return _figure(drawn, SMALL, f"Best {name} after each round", name)


def _figure(drawn: Callable[[int], Iterable[str]], height: int, label: str, caption: str) -> str:
    pictures = "".join(
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label)}">{"".join(drawn(width))}</svg>'
        for kind, width in WIDTHS.items()
    )
    return f"<figure><figcaption>{escape(caption)}</figcaption>{pictures}</figure>"
