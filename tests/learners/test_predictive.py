"""The shipped `Predictive` is its theorem: against the transcription, on every kind of set.

Eight settings a set, a half of all combinations of range, start, memory and late answers in which
every two of them meet; what is declared goes around. A centre differs from the transcription's by
less than 1e-10 of the radius, a certificate by less than 1e-9 of itself. The mutants differ.
"""

from itertools import product

import pytest

from learners.predictive_mutants import MUTANTS
from learners.predictive_replay import Replay, Setting
from learners.predictive_spaces import SPACES

DECLARED = ("smooth", "Lipschitz", "both", "nothing")
ANSWERS = 32


def settings() -> list[Setting]:
    cases = []
    for number, (ranged, start, forgets) in enumerate(product((True, False), repeat=3)):
        late = 6 if ranged ^ start ^ forgets else 0
        cases.append(Setting(DECLARED[number % 4], ranged, start, 12.0 if forgets else None, late))
    return cases


def turned(setting: Setting, by: int) -> Setting:
    where = DECLARED.index(setting.constants) + by
    return Setting(DECLARED[where % 4], setting.ranged, setting.start, setting.memory, setting.late)


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("name", SPACES)
def test_centers_and_certificates(name: str, setting: Setting) -> None:
    by = list(SPACES).index(name)
    replay = Replay(SPACES[name](), turned(setting, by)).play(ANSWERS)
    assert len(replay.learner._open) <= setting.late
    assert replay.learner.clipped > 0 or not setting.ranged


@pytest.mark.parametrize("same", [5, 20, 40])
@pytest.mark.parametrize("constants", ["smooth", "nothing"])
def test_losses_that_are_all_the_same_at_first(constants: str, same: int) -> None:
    """From a start, with a memory: they are measured until they differ."""
    setting = Setting(constants, False, True, 12.0, 0, same)
    Replay(SPACES["disc"](), setting).play(ANSWERS + same)


@pytest.mark.parametrize("name", MUTANTS)
def test_the_comparison_notices(name: str) -> None:
    """Each on the disc, in the setting in which the right learner has passed."""
    mutant, setting = MUTANTS[name]
    answers = ANSWERS + setting.same
    Replay(SPACES["disc"](), setting).play(answers)
    with pytest.raises(AssertionError):
        Replay(SPACES["disc"](), setting, mutant).play(answers)
