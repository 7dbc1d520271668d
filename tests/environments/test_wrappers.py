"""Shifted losses, and wrappers of wrappers."""

import numpy as np
import pytest

import dikin
from dikin.checks import environment as laws
from dikin.checks import laws as check_functions
from dikin.environments.wrappers import Wrapper
from dikin.errors import CheckFailedError, DikinError
from dikin.rng import stream

DISC = dikin.Ball(2)
CHECKS = check_functions("dikin.checks.environment")


def test_the_sign_is_independent_of_the_losses() -> None:
    """4000 rounds: means within 6 standard deviations, which fails once in 10^8 seeds."""
    bare = dikin.Ridge(DISC, 1.0, seed=1)
    environment = dikin.Shifted(dikin.Ridge(DISC, 1.0, seed=1), 10.0)
    x, signs, losses = np.array([0.3, 0.1]), [], []
    for t in range(1, 4001):
        chance = laws.next_chance(environment)
        losses.append(float(bare.kernel.value(t, chance, x)))
        signs.append((float(environment.kernel.value(t, chance, x)) - losses[-1]) / 10.0)
        environment.answer(x)
    assert np.abs(signs) == pytest.approx(1.0)
    assert abs(np.mean(signs)) < 6 / 4000**0.5
    assert abs(np.corrcoef(signs, losses)[0, 1]) < 6 / 4000**0.5


def test_refusals() -> None:
    with pytest.raises(DikinError, match="offset must be"):
        dikin.Shifted(dikin.Ridge(DISC, 1.0), 0.0)


NESTED = {
    "understated shifted": lambda: dikin.Understated(
        dikin.Shifted(dikin.Ridge(DISC, 1.0, seed=3), 2.0)
    ),
    "shifted understated": lambda: dikin.Shifted(
        dikin.Understated(dikin.Ridge(DISC, 1.0, seed=3)), 2.0
    ),
    "shifted twice": lambda: dikin.Shifted(dikin.Shifted(dikin.Ridge(DISC, 1.0, seed=3), 2.0), 1.0),
}


@pytest.mark.parametrize("name", NESTED)
def test_a_wrapper_of_a_wrapper_keeps_the_laws(name: str) -> None:
    for check in CHECKS.values():
        check(NESTED[name], stream(0, check.__name__))


@pytest.mark.parametrize("name", NESTED)
def test_a_wrapped_environment_with_sums_of_its_own_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: what is wrapped inside does not see the rounds that are played."""

    monkeypatch.setattr(Wrapper, "_caught_up", lambda self: self.environment)
    with pytest.raises(CheckFailedError, match="the best total"):
        laws.check_best_is_no_worse_than_any_point(NESTED[name], stream(0, "mutant"))
