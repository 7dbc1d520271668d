"""The certificate holds where lots decide what is played or how large the noise is, or it is NaN.

`lots.py` has the games, and plays them at full length as a script.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dikin
from dikin.learners.kernel_learner import Memo
from dikin.learners.predictive import expectation
from tuning.lots import LOTS, MORE, SEED, played

PROMISED = {name: game for name, game in (LOTS | MORE).items() if game.promised}
UNPROMISED = {name: game for name, game in (LOTS | MORE).items() if not game.promised}


CLOSE = {"three arms", "three arms, range", "three arms by lot, range", "jumps", "timeouts"}


def quickly(name: str) -> tuple[int, int]:
    """Games and rounds: more where certificates and regrets are close.

    Elsewhere they are 4 to 150 standard errors of four games apart. Where they are the same in
    truth, a learner that is right fails once in 270 choices of 20 seeds; these are fixed.
    """
    if name in LOTS:
        return 20, 400  # as many as show the mutant below
    return (8, 400) if name in CLOSE else (4, 400)


@pytest.mark.parametrize("name", PROMISED)
def test_the_certificate_is_at_least_the_regret(name: str) -> None:
    found = played(PROMISED[name], *quickly(name))
    assert np.isfinite(found.certificates).all()
    assert found.holds, (found.regrets.mean(), found.certificates.mean())


@pytest.mark.parametrize("name", UNPROMISED)
def test_without_a_promise_there_is_none(name: str) -> None:
    game = UNPROMISED[name]
    assert np.isnan(played(game, 1, 60).certificates).all()
    tuner = dikin.Tuner(game.parameters, seed=SEED, **game.options)
    for k in range(20):
        tuner.tell(tuner.ask(), float(k % 3))
    assert np.isfinite(tuner.learner.certificate)  # the learner knows nothing of the lots
    assert np.isnan(tuner.certificate)
    assert np.isnan(tuner.certificate_for(lipschitz=9.0))
    assert np.isnan(tuner.history()["certificate"]).all()
    assert np.isnan(tuner.summary().certificate)


class CertifiesClipped(dikin.Predictive):
    """A mutant: clips what is rare, and certifies the estimates as they were clipped."""

    def __init__(self, *args: Any, by_lot: bool, **options: Any) -> None:
        super().__init__(*args, by_lot=False, **options)

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        then = memo.state.numbers
        expected, level = expectation(self._plan, then), then.levels.current
        before = self._state.estimates.copy(), list(self._n.sums.g_y)
        super()._learn(memo, loss, curvature)
        surprise = loss - expected
        if level > 0 and abs(surprise) > level:
            share = level / abs(surprise)
            estimates, sums = self._state.estimates, self._n.sums
            estimates[:] = before[0] + share * (estimates - before[0])
            sums.g_y = [a + share * (b - a) for a, b in zip(before[1], sums.g_y, strict=True)]


def test_a_certificate_of_clipped_estimates_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dikin.tuning.tuner.Predictive", CertifiesClipped)
    assert not played(LOTS["losses that are no faults"], 20, 400).holds
