"""What exploring costs before a game, against a sum over its rounds."""

from math import sqrt

import numpy as np
import pytest

import dikin
from dikin.experiments.reproduce import exploring
from dikin.experiments.reproduce.plan import TABLES
from dikin.learners.adaptive import sharp_schedule


@pytest.mark.parametrize("row", ["zero", "constant", "first", "last"])
@pytest.mark.parametrize("number", [1, 2])
def test_the_price_of_exploring_round_by_round(number: int, row: str) -> None:
    """The integral against a loop with the exact sequence, at a horizon where it is short."""
    table, horizon = TABLES[number], 20_000
    pattern = table.rows[row].pattern(horizon)
    game = table.environment_kind(dikin.Ball(2), table.constant, pattern, 0)
    scale, (theta, _) = game.loss_range[1], game.best()
    barrier = np.mean(np.linalg.eigvalsh(dikin.Ball(2).hessian(theta)))
    schedule = sharp_schedule(table.order, 2, 1.0, table.constant / scale, None)
    total, paid = schedule.first, 0.0
    for t in range(1, horizon + 1):
        metric = barrier + schedule.rate(total, t) * total
        if number == 1:
            paid += 0.5 * table.constant / scale * 0.5 / metric
        else:
            paid += game.kernel.slope / scale * (2 / np.pi) / sqrt(metric)
        sigma = pattern.at(t) / scale
        total += sigma + schedule.regularisation(total + sigma)
    (found,) = exploring.whole_prices(number, row, (horizon,))
    assert found == pytest.approx(paid, rel=0.01)
