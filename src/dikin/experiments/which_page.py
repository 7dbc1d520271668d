"""The page "Which learner?", from the CSVs of `make matrix`: every number and name is computed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from dikin.experiments import known_curvature
from dikin.experiments.arenas import ARENAS
from dikin.experiments.entrants import BASES
from dikin.experiments.matrix import Cell, Matrix, read, ties
from dikin.experiments.page import markdown
from dikin.feedback import Feedback
from dikin.storage import replace_file

OURS = ("AdaptiveSmooth", "AdaptiveLipschitz")
"""The learners of the paper that this library is about."""
NEAR = 1.5
"""Times the best regret that standing still has, below which little has been learnt."""
SITUATIONS = {
    "constant": "every loss curved alike, and you know how much",
    "half-flat": "curved in part of the rounds, and you know how much",
    "decaying": "less and less curved, and you know how much",
    "hidden": "curved, and you do not know how much",
    "zero": "smooth, not curved",
    "linear": "linear",
    "moving": "bowls that move about",
    "offset": "a large random constant in every loss",
    "cone": "kinks, steep in every direction",
    "line": "kinks, one dimension",
    "pseudo": "kinked functions of one product, eight dimensions",
    "heavy": "bowls that move about, 50 dimensions",
}


def render(folder: Path) -> str:
    """The template of a folder, with what its CSVs say."""
    matrix = read(folder)
    curves = known_curvature.read(folder / "known_curvature.csv")
    environments = matrix.environments
    return (
        (folder / "template.md")
        .read_text(encoding="utf-8")
        .format(
            rounds=matrix.cells[0].rounds,
            seeds=max(len(cell.seeds) for cell in matrix.cells),
            short=_short(matrix),
            matrix=_table(matrix),
            notes=_notes(matrix),
            still=_still(matrix),
            adaptive="\n".join(f"- {_record(matrix, name)}" for name in OURS),
            known=_sentences(matrix, ["constant", "moving"]),
            changing=_sentences(matrix, ["tenth-flat", "half-flat", "decaying"]),
            wrong=_wrong(curves),
            more=_more(matrix),
            outsiders=_outsiders(matrix),
            absent=_absent(matrix),
            bases=_all(f"`{base.__name__}`" for base in BASES),
            speeds=_speeds(matrix),
            **{
                name: _sentences(matrix, [name])
                for name in ("hidden", "zero", "linear", "line", "pseudo", "heavy", "offset")
                if name in environments
            },
        )
    )


# --- who is best --------------------------------------------------------------------------------


def recommended(matrix: Matrix, environment: str) -> list[Cell]:
    """The best of those whose assumptions hold, and those not told apart from it."""
    sound = [cell for cell in matrix.own(environment) if not cell.broken]
    return [sound[0], *(cell for cell in sound[1:] if ties(cell, sound[0]))]


def _short(matrix: Matrix) -> str:
    rows = []
    for environment, words in SITUATIONS.items():
        take = recommended(matrix, environment)
        best = matrix.ranked(environment)[0]
        more = f"{take[0].mean / best.mean:.1f}, {_name(best)}" if best is not take[0] else "1"
        names = _name(take[0]) + (f", or {_all(map(_name, take[1:]))}" if take[1:] else "")
        rows.append([words, names, f"{take[0].mean:,.0f}", more, f"`{environment}`"])
    return markdown("your losses | take | regret | more | measured in", rows)


def _record(matrix: Matrix, name: str) -> str:
    """Where a learner is best among the library's, and where and by how much it is not."""
    won, lost = [], []
    for environment in matrix.environments:
        cell, (best, *_) = matrix.at(name, environment), matrix.own(environment)
        if cell is None or not cell.played:
            continue
        if cell is best or ties(cell, best):
            won.append(f"`{environment}`")
        else:
            ratio = cell.mean / best.mean
            lost.append(
                (ratio, f"`{environment}` ({ratio:.1f} times {_name(best)}{_dagger(cell)})")
            )
    behind = [text for _, text in sorted(lost, reverse=True)]
    return (
        f"**{name}** is best of the library's learners, or not told apart from the best, in "
        f"{len(won)} of {len(won) + len(lost)} environments{_listed(won)}. It is behind in "
        f"{_all(behind) or 'none'}."
    )


def _sentences(matrix: Matrix, environments: Iterable[str]) -> str:
    return " ".join(_sentence(matrix, name) for name in environments)


def _sentence(matrix: Matrix, environment: str) -> str:
    """Who is best in an environment, who is not told apart, and how the adaptive learners do."""
    first, *rest = matrix.own(environment)
    level = [cell for cell in rest if ties(cell, first)]
    text = f"In `{environment}` ({ARENAS[environment].words}) {_name(first)} has the least regret"
    text += f", {first.mean:,.0f} ± {first.half:,.0f}"
    if level:
        text += f", and the games do not tell {_all(map(_name, level))} from it"
    others = [cell for cell in rest if cell not in level and cell.learner in OURS]
    if others:
        text += "; " + _all(
            f"{_name(c)} has {c.mean / first.mean:.1f} times as much" for c in others
        )
    return text + "."


# --- the rest -----------------------------------------------------------------------------------


def _table(matrix: Matrix) -> str:
    head = " | ".join(["learner", *(f"`{name}`" for name in matrix.environments)])
    rows = [
        [_spoken(matrix, learner), *(_shown(matrix, learner, e) for e in matrix.environments)]
        for learner in matrix.learners()
    ]
    return markdown(head, rows)


def _spoken(matrix: Matrix, learner: str) -> str:
    more = any(cell.sees_more for cell in matrix.cells if cell.learner == learner)
    return f"*{learner}*" if more else learner


def _shown(matrix: Matrix, learner: str, environment: str) -> str:
    cell = matrix.at(learner, environment)
    if cell is None or not cell.played:
        return ""
    text = f"{cell.mean:,.0f} ± {cell.half:,.0f}"
    marked = {"best": f"**{text}**", "tie": f"{text} ="}.get(matrix.mark(cell), text)
    return marked + ("†" if cell.broken else "")


def _notes(matrix: Matrix) -> str:
    games = sorted({len(cell.seeds) for cell in matrix.cells if cell.played})
    return (
        f"Mean ± half the 95% interval, over {' or '.join(map(str, games))} games. **Bold**: the "
        "least; =: not told apart from it at 95%. †: an assumption of the learner, or a constant "
        "that it must be told, does not hold there. *Italics*: sees more than one value a round. "
        "This library's learners come first, then other packages', then those that see more; each "
        "sorted by the median ratio to the best, with those of few environments at the end."
    )


def _still(matrix: Matrix) -> str:
    """What standing still costs, over the best learner: near one, nobody has learnt anything."""
    cells = [c for c in matrix.cells if c.section == "baseline" and c.played]
    ratios = sorted((matrix.ratio(cell), cell.environment) for cell in cells)
    (least, there), (most, where) = ratios[0], ratios[-1]
    near = [f"`{name}`" for ratio, name in ratios if ratio < NEAR]
    text = (
        "`Still` plays the centre in every round. Its regret is between "
        f"{least:.1f} (`{there}`) and {most:.1f} times (`{where}`) that of this library's best."
    )
    if near:
        text += (
            f" In {_all(near)} it is below {NEAR:g} times: so many dimensions are too many for so "
            "few rounds, and what is compared there is what exploring costs."
        )
    return text


def _wrong(curves: list[known_curvature.Curve]) -> str:
    found = {(c.case, c.learner): c for c in curves}
    adaptive, known = (found["constant", name] for name in ("AdaptiveSmooth", "HazanLevy"))
    flat = [found["tenth-flat", n] for n in ("AdaptiveSmooth", "HazanLevy", "Discard")]
    last = int(adaptive.horizons[-1])
    ours, theirs, thrown = (float(curve.means[-1]) for curve in flat)
    return (
        "Left, every round has the curvature that `HazanLevy` is told: its regret grows like "
        f"T^{known.fit.exponent:.2f}, that of `AdaptiveSmooth` like T^{adaptive.fit.exponent:.2f}, "
        f"up to T = {last:,}. Right, the first tenth of the rounds says nothing, and `HazanLevy` "
        "believes the same curvature of all of them: it ties itself to where it stood in that "
        f"time. Its regret grows like T^{flat[1].fit.exponent:.2f}, and at T = {last:,} is "
        f"{theirs / ours:.1f} times that of `AdaptiveSmooth` (T^{flat[0].fit.exponent:.2f}), which "
        "was told that those rounds were flat. `Discard`, which throws them away, has "
        f"{thrown / ours:.2f} times the regret of `AdaptiveSmooth`: where flat rounds say nothing "
        f"at all, throwing them away is right. {adaptive.regrets.shape[1]} games a point, "
        "`Quadratic` on the disc."
    )


def _more(matrix: Matrix) -> str:
    """By what factor those that see more are below the best of one value."""
    lines = []
    for learner in matrix.learners():
        cells = [c for c in matrix.cells if c.learner == learner and c.played and c.sees_more]
        if cells:
            least, most = (choose(cells, key=matrix.ratio) for choose in (min, max))
            lines.append(
                f"- `{learner}` ({Feedback[cells[0].feedback].value}): from "
                f"{matrix.ratio(least):.2f} times the least regret of a learner of one value "
                f"(`{least.environment}`) to {matrix.ratio(most):.2f} times (`{most.environment}`)."
            )
    return "\n".join(lines) or "None took part."


def _outsiders(matrix: Matrix) -> str:
    lines = []
    for learner in matrix.learners():
        if matrix.section(learner) != "other packages":
            continue
        cells = [c for c in matrix.cells if c.learner == learner and c.played]
        below = [f"`{c.environment}` ({matrix.ratio(c):.2f})" for c in cells if matrix.ratio(c) < 1]
        above = [
            f"`{c.environment}` ({matrix.ratio(c):.1f})" for c in cells if matrix.ratio(c) >= 1
        ]
        lines.append(
            f"- `{learner}` over the best of this library: below one in {_all(below) or 'none'}; "
            f"above in {_all(above) or 'none'}."
        )
    return "\n".join(lines) or "None took part."


def _absent(matrix: Matrix) -> str:
    lines = []
    for reason, cells in matrix.absent().items():
        everywhere = len(cells) == len(matrix.environments)
        where = "all" if everywhere else _all(f"`{cell.environment}`" for cell in cells)
        lines.append(f"- {where}: {reason}.")
    return "\n".join(["Not played, and the reason given:", "", *lines]) if lines else ""


def _speeds(matrix: Matrix) -> str:
    rows = []
    for learner in matrix.learners():
        cells = [c for c in matrix.cells if c.learner == learner and c.played]
        per = [c.seconds / c.rounds * 1e6 for c in cells]
        road = "compiled" if all(c.fused for c in cells) else "ask and tell"
        rows.append([learner, road, f"{min(per):.1f}", f"{max(per):.1f}"])
    return markdown("learner | road | µs a round, fastest environment | slowest", rows)


# --- words --------------------------------------------------------------------------------------


def _name(cell: Cell) -> str:
    return f"`{cell.learner}`"


def _dagger(cell: Cell) -> str:
    return ", †" if cell.broken else ""


def _all(parts: Iterable[str]) -> str:
    *front, last = [*parts] or [""]
    return f"{', '.join(front)} and {last}" if front else last


def _listed(parts: list[str]) -> str:
    return f": {_all(parts)}" if parts else ""


if __name__ == "__main__":
    replace_file(Path(sys.argv[2]), render(Path(sys.argv[1])).encode())
