"""`memory="auto"`: a measured curvature and a tested memory, beside sums over all answers.

Centres differ from the transcription's by less than 1e-10 of the radius over 300 answers, the
minimum of which jumps; certificates of every memory by less than 1e-9 of the slopes added up. The
mutants differ.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.engine.play import compiled_rounds, plain_rounds
from dikin.learners import predictive_adaptation as adaptation
from dikin.learners import predictive_centres as centres
from dikin.learners.kernel_learner import Memo
from engine.games import uncompiled_rounds
from learners.predictive_cells_replay import Case, CellsReplay
from learners.predictive_games import above, compile_always, hostile
from learners.predictive_mutants import AnswersHereAndNow
from learners.predictive_spaces import SPACES

ANSWERS = 300
CASES = {
    "long box": Case(),
    "disc": Case(start=True, late=6),
    "simplex": Case(start=True, told=True),
    "cube": Case(late=6, told=True),
}
SEED_OF = {"simplex": 3}
"""With 1, as elsewhere, noise hides the jump on the simplex, and the memory would not be tested."""


def replay(name: str, kind: Callable[..., Any] = dikin.Predictive) -> CellsReplay:
    seed = SEED_OF.get(name, 1)
    return CellsReplay(SPACES[name](), CASES[name], seed, kind=kind).play(ANSWERS)


@pytest.mark.parametrize("name", CASES)
def test_centers_and_certificates(name: str) -> None:
    run = replay(name)
    cell = run.reference.cells[0]
    assert cell.alarms, "the jump was not noticed: the test of the memory did not run"
    assert 0 < np.count_nonzero(cell.believed) < len(cell.believed)
    assert run.learner.clipped > 0


def first_answers() -> CellsReplay:
    """On the disc, from its centre, with a seed whose first surprise is more than the level."""
    return CellsReplay(SPACES["disc"](), Case(), seed=6).play(40)


def test_a_first_surprise_above_the_level() -> None:
    """It shows so much curvature that the centre goes on to be explored half-way out."""
    cell = first_answers().reference.cells[0]
    assert [answer.above for answer in cell.told] == [True] + 31 * [False]
    assert cell.believed[0] > 0


def test_one_that_shows_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptation, "least_curvature", lambda plan, state, stiff: 0.0)
    with pytest.raises(AssertionError, match=r"differ|z'Hz"):
        first_answers()


# --- mutants -------------------------------------------------------------------------------------

believed_curvature, remembered = adaptation.believed_curvature, adaptation.remembered


class Lagging:
    """The belief of the round before."""

    last = 0.0

    def __call__(self, *told: Any) -> float:
        self.last, before = believed_curvature(*told), self.last
        return before


def wrong_sign(geometry: Any, plan: Any, state: Any, i: int, learnt: float, share: float) -> float:
    """The estimates fall along the centres."""
    return believed_curvature(geometry, plan, state, i, -learnt, share)


def without_doubt(*told: Any) -> float:
    """The same, however uncertain it is."""
    believed_curvature(*told)
    _, _, state, i, _, _ = told
    rise, spread = state.numbers.centres.rise[i], state.numbers.centres.spread[i]
    return max(0.5 * rise / spread, 0.0) if spread > 0 else 0.0


def moves_the_centre(geometry: Any, plan: Any, state: Any, i: int, step: Any) -> float:
    """An alarm forgets the estimates too, so that the centre moves."""
    kept = remembered(geometry, plan, state, i, step)
    if kept < 1.0:
        state.linear[:] *= kept
    return kept


def never_alarmed(*told: Any) -> float:
    remembered(*told)
    return 1.0


def other_noise(geometry: Any, plan: Any, state: Any, i: int, step: Any) -> float:
    """Steps in units of twice the noise."""
    return remembered(geometry, plan, state, i, 0.5 * step)


class BelievedIsTold(dikin.Predictive):
    """What is believed counts in the certificate as if it had been told."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        before = self._n.centres.curvature[0]
        super()._learn(memo, loss, curvature)
        centres_ = self._n.centres
        more = centres_.curvature[0] - before - curvature
        self._n.sums.sigma_tau[0] += max(more, 0.0) * memo.asked[1]


FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "belief of the round before": ("believed_curvature", Lagging()),
    "a difference of the wrong sign": ("believed_curvature", wrong_sign),
    "a belief without doubt": ("believed_curvature", without_doubt),
    "an alarm that moves the centre": ("remembered", moves_the_centre),
    "no alarm": ("remembered", never_alarmed),
    "steps in units of another noise": ("remembered", other_noise),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_another_rule_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the disc, where the right rule has passed; the learner runs as plain Python."""
    monkeypatch.setattr(adaptation, *FUNCTIONS[name])
    assert centres.adaptation is adaptation
    with pytest.raises(AssertionError, match=r"differ|z'Hz"):
        replay("disc")


@pytest.mark.parametrize("kind", [AnswersHereAndNow, BelievedIsTold])
def test_another_learner_is_noticed(kind: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError):
        replay("disc", kind)


# --- the certificate of every memory ------------------------------------------------------------

SEEDS = 16


@pytest.mark.parametrize("name", ["switches", "growing", "random signs", "alternating"])
def test_late_and_for_every_memory(name: str) -> None:
    """Answers up to ten rounds late; the discounted regret of the order in which they came."""
    rounds = 240
    gaps: dict[float, list[float]] = {}
    for seed in range(SEEDS):
        game, rng = hostile(name, rounds), np.random.default_rng([seed, 41])
        learner = dikin.Predictive(game.domain, game.smoothness, memory="auto", seed=seed)
        order = np.argsort(np.arange(rounds) + rng.integers(0, 11, size=rounds), kind="stable")
        losses, rows = play_late(learner, game, order), game.kernel
        place = np.maximum(np.arange(1, rounds + 1), 8)
        for memory in learner.memories:
            weights = (1 - 1 / memory) ** (rounds - place).astype(float)
            sums = np.column_stack([rows.offsets, rows.bends, rows.slopes])[order]
            game.sums[1:, 0], game.sums[1:, 1] = weights @ sums, 0.0
            bound = learner.certificate_for(smoothness=game.smoothness, memory=memory)
            gaps.setdefault(memory, []).append(bound - (weights @ losses - game.best()[1]))
    assert len(gaps) == 4
    for found in gaps.values():
        above(found, -3.0)


def play_late(learner: Any, game: Any, order: Any) -> Any:
    """The losses in the order in which they were told."""
    asked: list[Any] = []
    losses = []
    for t in order:
        while len(asked) <= t:
            asked.append(learner.ask())
        losses.append(float(game.kernel.value(int(t) + 1, 0.0, asked[t].point)))
        learner.tell(asked[t], losses[-1], game.kernel.strong_convexity(int(t) + 1))
    return np.array(losses)


# --- compiled ------------------------------------------------------------------------------------


def ends(domain: Any, world: Callable[[], Any], begin: Callable[..., Any]) -> Any:
    """The learner after a game."""
    learner = dikin.Predictive(domain, memory="auto", seed=4)
    advance = begin(learner, world())
    assert advance is not None
    advance(600)
    return learner


def agree(plain: Any, other: Any) -> None:
    """Sums over a vector are ordered otherwise: 1e-9 of the size, as in tests/engine."""
    radius = plain.domain.radius
    np.testing.assert_allclose(other.center, plain.center, rtol=0, atol=1e-9 * radius)
    for memory in plain.memories:
        one, two = (
            learner.certificate_for(smoothness=1.0, memory=memory) for learner in (plain, other)
        )
        np.testing.assert_allclose(two, one, rtol=1e-9)
    for name in ("rounds", "curvature", "noise", "rise"):
        one, two = (getattr(learner._n.centres, name) for learner in (plain, other))
        np.testing.assert_allclose(two, one, rtol=1e-7)


def test_compiled_and_plain_play_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_always(monkeypatch)
    plain, compiled = (
        ends(dikin.Ball(2), switches, begin) for begin in (plain_rounds, compiled_rounds)
    )
    agree(plain, compiled)
    assert plain._n.centres.rounds[0] < plain.rounds, "no alarm came"


def switches() -> Any:
    return hostile("switches", 600)


@pytest.mark.parametrize("domain", [dikin.Box([0, 0], [10, 2]), dikin.Simplex(3)])
def test_the_kernel_as_python_and_plain_play_agree(domain: Any) -> None:
    """The text that is compiled, run as Python: a compiler would take a minute for each set."""

    def world() -> Any:
        return dikin.Quadratic(domain, 1.0, seed=3)

    agree(*(ends(domain, world, begin) for begin in (plain_rounds, uncompiled_rounds)))
