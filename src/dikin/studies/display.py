"""A study in a terminal: a summary, and curves made of blocks."""

from __future__ import annotations

from collections.abc import Iterator

from dikin.plotting.curves import far_off
from dikin.plotting.terminal import FAR_OFF, WIDTH, sparkline
from dikin.studies.study import Study

MARGIN = 14
"""The least width of the column of names."""


def text(study: Study) -> Iterator[str]:
    """The summary and the curves, line by line, for a terminal."""
    rounds = study.history()
    lines = list(study.status().lines())
    if len(rounds):
        lines.append(("history", f"rounds {rounds['round'][0]:,} to {rounds['round'][-1]:,}"))
    shown = (*study.space.columns, "value") if len(rounds) else ()
    over = {name: rounds[name] for name in shown}
    margin = max(MARGIN, *(len(name) + 1 for name in [*over, *(name for name, _ in lines)]))
    yield f"study {study.name}"
    for name, fact in lines:
        yield f"{name:<{margin}}{fact}"
    if over:
        yield f"{'':<{margin}}{'over the rounds':<{WIDTH}}{'first':>11}{'last':>11}"
    for name, values in over.items():
        ends = f"{values[0]:>11,.5g}{values[-1]:>11,.5g}"
        yield f"{name:<{margin}}{sparkline(values):<{WIDTH}}{ends}"
    far = sum(int(far_off(values).sum()) for values in over.values())
    if far:
        yield f"{'':<{margin}}{FAR_OFF}: {far:,} far off, not in the scale"
