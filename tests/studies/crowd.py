"""Many clients in ask and tell loops on one study: throughput, turns, and what was acknowledged."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import dikin
from service import crowd as accounts
from service.template import FORKS
from studies.small import plain


class Crowd(NamedTuple):
    """Rounds of a crowd: a second, and of a client; calls that were refused, lost and doubled."""

    rate: float
    busy: int
    fewest: int
    most: int
    lost: int
    doubled: int


def crowd(url: str, clients: int, seconds: float) -> Crowd:
    """Let that many processes ask and tell for so long, with the patience that a study has."""
    dikin.Study(url, "kills", plain()).close()
    with ProcessPoolExecutor(clients, FORKS) as pool:
        given = (accounts.play_for, seconds, 1, url, "kills", None)
        parts = [pool.submit(*given) for _ in range(clients)]
        played = [part.result() for part in parts]
    account = accounts.sum_of(played)
    assert all(text.startswith("BusyError") for text in account.refused), account.refused
    faults = accounts.faults(url, "kills", account)
    rounds = [len(each.told) for each in played]
    return Crowd(
        rate=sum(rounds) / seconds,
        busy=len(account.refused),
        fewest=min(rounds),
        most=max(rounds),
        lost=faults["lost"] + faults["altered"] + faults["asked and gone"],
        doubled=faults["twice"] + faults["given twice"],
    )
