"""A small study for tests of what may go wrong."""

from __future__ import annotations

from typing import Any

import dikin


def fresh() -> dikin.AdaptiveSmooth:
    return dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=(0, 1), seed=5)


def prices(seed: int = 5) -> dikin.AdaptiveSmooth:
    return dikin.AdaptiveSmooth(dikin.Box([0, 0], [10, 2]), 0.5, loss_range=(0, 40), seed=seed)


def step(player: Any, loss: float = 0.25) -> dikin.Query:
    query: dikin.Query = player.ask()
    player.tell(query, loss, 0.5)
    return query


def begin(file: str) -> None:
    """Four rounds, and a query open."""
    with dikin.Study(file, "a", fresh()) as study:
        for _ in range(4):
            step(study)
        study.ask()
