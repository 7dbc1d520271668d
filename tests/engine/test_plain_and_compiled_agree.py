"""Ask and tell, the kernels as Python, and the compiled kernels play the same game.

They execute the same scalar code; sums over a vector are ordered differently (NumPy's blocks, the
plain loop, the processor's vectors). One rounding of a sum moves the next centre by ulps, and the
game feeds that back, so after 60 rounds the results are compared to 1e-9 of the domain's size.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

import dikin
from dikin.engine import jit
from dikin.engine.play import compiled_rounds, plain_rounds
from dikin.environments.base import Environment
from dikin.errors import CheckFailedError
from dikin.learners.barrier_ftrl import TOTAL
from engine.games import Game, covering, games, options, types_in, uncompiled_rounds
from reference.barriers import Array

ROUNDS = 60
ALL = games()
OPTIONS = list(options())
SCHEDULED = next(game for game in ALL if game.learner_class is dikin.AdaptiveSmooth)
"""A learner whose rate follows the sum of the curvatures."""
Begin = Callable[[Any, Environment], Any]

UNEQUAL = dikin.Product(dikin.Box([0, -5], [1, 5]), dikin.Ellipsoid([0, 1], [[1, 0.3], [0.3, 4]]))
GEOMETRY: Any = UNEQUAL.geometry(UNEQUAL.radius, equal_sides=True)
COVERING = list(covering(ALL, types_in(GEOMETRY)))


def outcome(game: Game, begin: Begin) -> tuple[Any, Environment]:
    learner, environment = game.learner(), game.environment()
    advance = begin(learner, environment)
    advance(ROUNDS // 3)
    advance(ROUNDS - ROUNDS // 3)
    return learner, environment


def agree(game: Game, one: Begin, two: Begin) -> None:
    (a, world_a), (b, world_b) = outcome(game, one), outcome(game, two)
    gap = float(np.abs(a.center - b.center).max()) / game.domain.radius
    if not gap <= 1e-9:
        raise CheckFailedError(f"centres differ by {gap:.1e} of the radius")
    ours, theirs = a.certificate, b.certificate
    if not np.isclose(ours, theirs, rtol=1e-9, atol=0, equal_nan=True):
        raise CheckFailedError(f"certificates are {ours} and {theirs}")
    if not np.allclose(world_a.sums, world_b.sums, rtol=1e-9, atol=1e-9 * ROUNDS):
        raise CheckFailedError(f"sums are {world_a.sums} and {world_b.sums}")
    # These never depend on the order of a sum.
    for same in ("rounds", "asked"):
        if getattr(a, same) != getattr(b, same):
            raise CheckFailedError(f"{same} differs")
    if a.state()["generator"] != b.state()["generator"]:
        raise CheckFailedError("the learners' generators are in different states")
    if world_a.chances.bit_generator.state != world_b.chances.bit_generator.state:
        raise CheckFailedError("the environments' generators are in different states")


@pytest.mark.parametrize("game", ALL + OPTIONS, ids=str)
def test_the_kernels_as_python_agree_with_ask_and_tell(game: Game) -> None:
    agree(game, plain_rounds, uncompiled_rounds)


@pytest.mark.parametrize("game", COVERING, ids=str)
def test_the_compiled_kernels_agree_with_ask_and_tell(game: Game) -> None:
    agree(game, plain_rounds, compiled_rounds)


def call_every_method(geometry: Any, s: Array, linear: Array, parts: Any) -> tuple[float, ...]:
    """What learners ask of a geometry while they play, one after the other."""
    iterate, metric, u, out, x = parts
    geometry.solve(linear, 0.3, 0.01, iterate)
    seen = geometry.explore(iterate, 1.0, 0.2, s, metric)
    length = geometry.point(iterate, metric, seen, 0.3, u)
    along, away = geometry.linear_update(iterate, metric, seen, 0.5, 0.1, out)
    numbers = seen[0], seen[1], length, along, away
    geometry.write_point(u, s, 2.0, x)
    barrier = geometry.barrier(iterate)
    geometry.project(linear, iterate)
    return *numbers, barrier


def test_the_compiled_methods_of_a_stretched_product_agree() -> None:
    """What `Predictive` and descent call: all numbers, and all that is written."""
    jit.compiled_loop(GEOMETRY)
    outcomes = []

    def forgets_a_part(geometry: Any, s: Array, linear: Array, parts: Any) -> tuple[float, ...]:
        return call_every_method(geometry, np.append(s[:-1], 0.0), linear, parts)

    for call in (call_every_method, njit(error_model="numpy")(call_every_method), forgets_a_part):
        rng, size = np.random.default_rng(8), GEOMETRY.size
        s, linear = rng.normal(size=(2, size))
        parts = GEOMETRY.start(), np.zeros((GEOMETRY.metric_size, size)), *np.zeros((3, size))
        found = call(GEOMETRY, s, linear, parts)
        outcomes.append(np.concatenate([found, s, linear, *map(np.ravel, parts)]))
    np.testing.assert_allclose(outcomes[1], outcomes[0], rtol=1e-12, atol=1e-14)
    assert not np.allclose(outcomes[2], outcomes[0])


def test_the_games_have_what_can_be_compiled() -> None:
    assert len(ALL) > 60
    assert 4 < len(COVERING) < 20
    played = {game.learner_class.__name__ for game in ALL}
    assert {"AdaptiveSmooth", "FKM", "Scrible", "Predictive"} <= played


def one_round_late(learner: Any, environment: Environment) -> Any:
    begin = plain_rounds(learner, environment)
    return lambda rounds: begin(rounds - 1)


def other_noise(learner: Any, environment: Environment) -> Any:
    learner._noise.draw()
    return plain_rounds(learner, environment)


def wrong_scale(learner: Any, environment: Environment) -> Any:
    learner._state.numbers[TOTAL] *= 1 + 1e-6
    return plain_rounds(learner, environment)


def forgetful(learner: Any, environment: Environment) -> Any:
    learner._kernel = learner._kernel._replace(keep=0.9)
    return plain_rounds(learner, environment)


def startless(learner: Any, environment: Environment) -> Any:
    learner._kernel = learner._kernel._replace(slope=0 * learner._kernel.slope)
    return plain_rounds(learner, environment)


@pytest.mark.parametrize(
    ("game", "mutant"),
    [
        *((OPTIONS[2], mutant) for mutant in (forgetful, startless)),
        *((SCHEDULED, mutant) for mutant in (one_round_late, other_noise, wrong_scale)),
    ],
)
def test_the_comparison_notices(game: Game, mutant: Begin) -> None:
    with pytest.raises(CheckFailedError):
        agree(game, plain_rounds, mutant)


def test_a_learner_goes_on_on_plain_or_compiled() -> None:
    game = next(game for game in COVERING if game.learner_class is dikin.FKM)
    learner, environment = game.learner(), game.environment()
    for begin in (plain_rounds, compiled_rounds, plain_rounds):
        begin(learner, environment)(20)
    other, world = outcome(game, plain_rounds)
    np.testing.assert_allclose(learner.center, other.center, rtol=1e-9)
    assert learner.rounds == other.rounds == environment.rounds == world.rounds
