"""The game as a whole: checkpoints, totals, compiling, refusals, progress."""

import io
import math
import sys
from fractions import Fraction
from typing import Any

import numba
import numpy as np
import pytest

import dikin
from dikin.engine import jit, progress
from dikin.engine.play import log_spaced
from dikin.environments.base import add
from dikin.errors import CertificateWarning


def players() -> tuple[dikin.Learner, dikin.Environment]:
    world = dikin.Ridge(dikin.Ball(2), 1.0, 0.2, seed=1)
    return dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=world.loss_range, seed=1), world


def game(rounds: int = 300, **settings: Any) -> dikin.Run:
    return dikin.play(*players(), rounds, **settings)


def test_checkpoints_are_log_spaced_and_end_with_the_last_round() -> None:
    run = game(1000, checkpoints=5)
    assert run.checkpoints[0] == 1
    assert run.checkpoints[-1] == 1000
    ratios = run.checkpoints[8:] / run.checkpoints[7:-1]
    assert ratios.max() / ratios.min() < 1.1
    assert log_spaced(1, 20).tolist() == [1]
    for column in (run.regret, run.certificate, run.cumulative_losses):
        assert column.shape == run.checkpoints.shape


def test_losses_are_those_of_all_rounds_so_far() -> None:
    run = game(300)
    for i in (0, 5, -1):
        assert run.cumulative_losses[i] == game(int(run.checkpoints[i])).total_loss


def test_regret_is_loss_minus_that_of_the_comparator() -> None:
    world = dikin.Kink(dikin.Box([0, 0], [4, 1]), 2.0, 0.1, seed=4)
    learner = dikin.AdaptiveLipschitz(world.domain, 2.0, loss_range=world.loss_range, seed=4)
    run = dikin.play(learner, world, 500)
    twin = dikin.Kink(world.domain, 2.0, 0.1, seed=4)
    theirs = math.fsum(twin.answer(run.comparator)[0] for _ in range(500))
    assert run.regret[-1] == pytest.approx(run.total_loss - theirs, rel=1e-12)
    assert world.domain.contains(run.comparator)


def test_a_plain_python_loss_is_not_compiled_and_a_numba_one_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "COMPILE_FROM", 1)

    def bowl(round: int, x: Any) -> float:
        return 0.5 * ((x[0] - 0.2) ** 2 + (x[1] + 0.1) ** 2)

    def run(loss: Any) -> dikin.Run:
        world = dikin.FromFunction(
            dikin.Ball(2), loss, 1.0, loss_range=(0, 1), smoothness=1.0, comparator=[0.2, -0.1]
        )
        learner = dikin.FKM(dikin.Ball(2), 200, loss_range=(0, 1), seed=2)
        return dikin.play(learner, world, 200)

    slow, fast = run(bowl), run(numba.njit(bowl))
    assert (slow.compiled, fast.compiled) == (False, True)
    np.testing.assert_allclose(slow.regret, fast.regret, rtol=1e-9)


def test_open_queries_keep_the_game_on_the_readable_road() -> None:
    learner, world = players()
    learner.ask()
    assert not dikin.play(learner, world, 20).compiled
    assert len(learner.open_queries) == 1


@pytest.mark.parametrize("rounds", [0, 1.5, True, "x"])
def test_a_wrong_number_of_rounds_is_refused(rounds: Any) -> None:
    with pytest.raises(dikin.DikinError, match=r"rounds must be .*got"):
        game(rounds)


def test_mismatched_players_are_refused_with_the_way_out() -> None:
    world = dikin.Ridge(dikin.Ball(2), 4.0, seed=1)
    elsewhere = dikin.AdaptiveSmooth(dikin.Ball(2, 2.0), 4.0, loss_range=(-9, 9))
    for player, words in (
        (dikin.AdaptiveSmooth(dikin.Ball(2), 4.0), r"loss_range=environment\.loss_range"),
        (elsewhere, "another domain"),
        (dikin.FKM, "needs a learner"),
    ):
        with pytest.raises(dikin.DikinError, match=words):
            dikin.play(player, world, 10)  # type: ignore[arg-type]


def test_a_learner_that_assumes_too_little_is_warned_of() -> None:
    world = dikin.Ridge(dikin.Ball(2), 4.0, seed=1)
    timid = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=world.loss_range)
    with pytest.warns(CertificateWarning, match="assumes smoothness=1 and the losses have 4"):
        dikin.play(timid, world, 10)


def test_a_round_that_fails_was_not_played() -> None:
    """A loss that is refused, or an interrupt in the loss itself; then the game goes on."""
    disc = dikin.Ball(2)

    def spiked(round: int, x: Any) -> float:
        if broken and round == 30:
            if broken[0] is None:
                raise KeyboardInterrupt
            return float(broken[0])
        return float(x @ x) / 2

    def game() -> tuple[Any, Any]:
        world = dikin.FromFunction(disc, spiked, loss_range=(0, 1), comparator=[0.0, 0.0], seed=1)
        return dikin.AdaptiveSmooth(disc, 1.0, loss_range=(0, 1), seed=1), world

    broken: list[float | None] = []
    _, whole = game()
    for _ in range(29):
        whole.answer(disc.center)
    for broken in ([5.0], [None]):
        learner, world = game()
        with pytest.raises((dikin.errors.LossRangeError, KeyboardInterrupt)):
            dikin.play(learner, world, 50, progress=False)
        assert learner.rounds == world.rounds == 29
        assert learner.open_queries == []
        assert world.total(1) == 0.0 < world.total_loss
        assert world.chances.bit_generator.state == whole.chances.bit_generator.state
        broken = []
        run = dikin.play(learner, world, 21, progress=False)
        assert learner.rounds == world.rounds == 50
        assert run.checkpoints[-1] == 50


def test_compensated_sums_lose_nothing_where_plain_ones_do() -> None:
    rng = np.random.default_rng(0)
    values = (rng.standard_normal(20_000) * 10.0 ** rng.uniform(-12, 12, 20_000)).tolist()
    exact = float(sum(map(Fraction, values)))
    sums = np.zeros((1, 2))
    for value in values:
        add(sums, 0, value)
    size = math.fsum(map(abs, values))
    assert abs(sums.sum() - exact) <= 2e-16 * abs(exact) + 1e-28 * size
    assert abs(sum(values) - exact) > 5e-15 * abs(exact)  # so the test can tell


@pytest.mark.parametrize("domain", [dikin.Ball(2), dikin.Polytope([[1.0], [-1.0]], [2.0, 5.0])])
def test_no_more_curvature_is_told_than_a_learner_admits(domain: Any) -> None:
    """Compiled on the ball, in plain Python on the polytope."""
    world = dikin.Ridge(domain, 1.0, 0.5, seed=1)
    with pytest.warns(CertificateWarning):
        run = dikin.play(dikin.Scrible(domain, 100, loss_range=world.loss_range), world, 20)
    assert run.checkpoints[-1] == 20


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remaining time counts what was done before the bar appeared."""
    now, terminal = [1e6], Terminal()
    monkeypatch.setattr("time.time", lambda: now[0])
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", terminal)

    def minute(rounds: int) -> None:
        now[0] += 60.0

    with progress.Progress(4000, wanted=True) as bar:
        bar.advance(minute, 1000)
        bar.advance(minute, 1000)
        assert "2000/4000  00:02:00" in terminal.getvalue()
        bar.advance(minute, 2000)
    assert "4000/4000" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")
