"""The shipped `Predictive` is its theorem: against the transcription, on every kind of set."""

from collections.abc import Iterator
from itertools import product

import pytest

import dikin
from dikin.learners.kernel_learner import Asked
from dikin.learners.predictive_schedule import CLIPPED, G_Y, MEASURED, measuring
from learners.predictive_replay import Replay, Setting
from learners.predictive_spaces import SPACES


class CertifiesWhatWasLearnt(dikin.Predictive):
    """The certificate is made of estimates of which not all was learnt."""

    def _learn(self, memo: Asked, loss: float, curvature: float) -> None:
        old, linear, size = self._state.numbers, self._state.linear.copy(), self.geometry.size
        super()._learn(memo, loss, curvature)
        if self._state.numbers[CLIPPED] > old[CLIPPED]:
            self._state.linear[size:] = linear[size:]


class AnswersHereAndNow(dikin.Predictive):
    """A late answer is learnt as if it had been asked at the present centre."""

    def _learn(self, memo: Asked, loss: float, curvature: float) -> None:
        super()._learn((memo[0]._replace(iterate=self._state.iterate), *memo[1:]), loss, curvature)


class WeighsByLosses(dikin.Predictive):
    """All answers that only measure weigh the same, and how many there are the losses decide."""

    def _learn(self, memo: Asked, loss: float, curvature: float) -> None:
        old = self._state.numbers
        super()._learn(memo, loss, curvature)
        if measuring(old) and self.rounds >= MEASURED:
            self._state.numbers[G_Y] += (1 / self._kernel.keep - 1) * old[G_Y]


MUTANTS = [
    (CertifiesWhatWasLearnt, Setting("smooth", False, False, None, 0)),
    (WeighsByLosses, Setting("smooth", False, True, 12.0, 0, 36)),
    (AnswersHereAndNow, Setting("smooth", True, False, None, 6)),
]
DECLARED = ("smooth", "Lipschitz", "both", "nothing")
ANSWERS = 32


def settings(by: int) -> Iterator[Setting]:
    """Every two of range, start and memory; what is declared and late answers go around."""
    for number, (ranged, start) in enumerate(product((True, False), repeat=2)):
        memory = 12.0 if ranged ^ start ^ bool(by % 2) else None
        late = 6 if start ^ bool(by // 2 % 2) else 0
        yield Setting(DECLARED[(number + by) % 4], ranged, start, memory, late)


CASES = [(name, setting) for by, name in enumerate(SPACES) for setting in settings(by)]


@pytest.mark.parametrize(("name", "setting"), CASES, ids=str)
def test_centers_and_certificates(name: str, setting: Setting) -> None:
    replay = Replay(SPACES[name](), setting).play(ANSWERS)
    assert len(replay.learner._open) <= setting.late
    assert replay.learner.clipped > 0 or not setting.ranged


@pytest.mark.parametrize(("constants", "same"), [("smooth", 5), ("nothing", 20), ("smooth", 40)])
def test_losses_that_are_all_the_same_at_first(constants: str, same: int) -> None:
    """From a start, with a memory: they are measured until they differ."""
    setting = Setting(constants, False, True, 12.0, 0, same)
    Replay(SPACES["disc"](), setting).play(ANSWERS + same)


@pytest.mark.parametrize(("mutant", "setting"), MUTANTS)
def test_the_comparison_notices(mutant: type[dikin.Predictive], setting: Setting) -> None:
    """Each on the disc, in the setting in which the right learner has passed."""
    answers = ANSWERS + setting.same
    Replay(SPACES["disc"](), setting).play(answers)
    with pytest.raises(AssertionError):
        Replay(SPACES["disc"](), setting, mutant).play(answers)
