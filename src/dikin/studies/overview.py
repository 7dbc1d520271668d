"""A study at one instant, as a record: for a page, a metric or a program in another language."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from dikin.studies.journal import Journal
from dikin.studies.replica import Replica, clock
from dikin.tuning.summary import Summary
from dikin.vectors import Array


class Overview(NamedTuple):
    """What there is to say of a study at one instant."""

    learner: str
    """What kind of learner it keeps; that of a tuner is the one inside it."""
    rounds: int
    """Rounds answered so far."""
    center: Array
    """The point that the learner believes in; the best values of a tuner in their order."""
    certificate: float
    """The bound on the regret so far; NaN where the learner has none."""
    restarts: int
    """How often a range of losses that was not known had to be widened."""
    open_queries: int
    """How many queries or trials wait for their answer."""
    first_open: int | None
    """The id of the one that has waited longest."""
    oldest_asked: datetime | None
    """When it was asked."""
    asked: int
    """How many were asked so far."""
    last_told: datetime | None
    """When the newest round was told."""
    summary: Summary | None
    """What a tuner has to say besides; None where a learner is kept."""


def overview_of(replica: Replica, journal: Journal) -> Overview:
    """The record of a study, whose learner is up to date with its journal."""
    player, asked = replica.player, replica.asked
    first = next(iter(asked), None)
    told = journal.last_told()
    return Overview(
        learner=player.kind,
        rounds=player.rounds,
        center=player.center,
        certificate=player.certificate,
        restarts=player.restarts,
        open_queries=len(asked),
        first_open=first,
        oldest_asked=None if first is None else clock(asked[first].time),
        asked=player.asked,
        last_told=None if told is None else clock(told),
        summary=None if player.space is None else replica.tuner.summary(),
    )
