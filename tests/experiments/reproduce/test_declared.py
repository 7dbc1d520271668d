"""Of one round, the paper's algorithms are told the loss and the curvature, and nothing else."""

from __future__ import annotations

import numpy as np

import dikin
from dikin.engine.play import plain_rounds
from dikin.experiments.reproduce.declared import Declared
from dikin.experiments.reproduce.plan import TABLES, DimensionCell, PaperCell

ROWS = [(number, row) for number, table in TABLES.items() for row in table.rows]


def test_no_cell_tells_the_constants_of_a_round() -> None:
    for number, row in ROWS:
        for cell in (
            PaperCell(1000, range(1), number, row),
            PaperCell(1000, range(1), number, row, "predictive", shifted=True),
            DimensionCell(1000, range(1), number, row, "sharp", dim=4),
        ):
            _, game = cell.start(0)
            assert game.steady
            for round in (1, 40, 999):
                assert set(game.constants_of(round).values()) == {float("inf")}


def both(row: str) -> tuple[dikin.Environment, Declared]:
    """The losses of a row of Table 2, without and with the wrapper."""
    table = TABLES[2]
    pattern = table.rows[row].pattern(1000)
    wrapped = table.environment(dikin.Ball(2), pattern, 3)
    assert isinstance(wrapped, Declared)
    return table.environment_kind(dikin.Ball(2), table.constant, pattern, 3), wrapped


def test_the_losses_of_table_2_would_tell_constants() -> None:
    """Without the wrapper, the learner would play another game."""
    bare, wrapped = both("decay-0.5")
    losses = []
    for game in (bare, wrapped):
        learner = TABLES[2].learner(game, "sharp", 1000, 3)
        plain_rounds(learner, game)(300)
        losses.append(game.total_loss)
    assert losses[0] != losses[1]


def test_it_keeps_the_laws_of_environments() -> None:
    assert dikin.check_environment(Declared, dikin.Ball(2))


def test_the_losses_are_the_same() -> None:
    bare, wrapped = both("first")
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2))
    for point in points:
        assert bare.answer(point) == wrapped.answer(point)
    assert wrapped.total_loss == bare.total_loss
    assert wrapped.best()[1] == bare.best()[1]
    assert wrapped.loss_range == bare.loss_range
    assert wrapped.constants(False) == bare.constants(False)
