"""Shifted losses, and wrappers of wrappers."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.checks import environment as laws
from dikin.environments.wrappers import Wrapper
from dikin.errors import CheckFailedError, DikinError
from dikin.rng import stream
from environments.playing import CHECKS, DISC


def test_noise_is_uniform_independent_of_the_sign_and_the_season_a_sine() -> None:
    """4000 rounds: means within 6 standard deviations, which fails once in 10^8 seeds."""
    bare = dikin.Ridge(DISC, 1.0, seed=1)
    environment = dikin.Shifted(
        dikin.Ridge(DISC, 1.0, seed=1), 10.0, noise=1.0, season=100.0, period=40
    )
    x = np.zeros(2)
    moved = []
    for t in range(1, 4001):
        chance = laws.next_chance(environment)
        extra = float(environment.kernel.value(t, chance, x)) - float(
            bare.kernel.value(t, chance, x)
        )
        moved.append(extra - 100.0 * np.sin(2 * pi * t / 40))
        environment.answer(x)
    signs = np.sign(moved)
    noise = np.array(moved) - 10.0 * signs
    assert np.abs(noise).max() <= 1.0 + 1e-9
    spread = (1 / 3) ** 0.5 / 4000**0.5
    assert abs(noise.mean()) < 6 * spread
    assert abs((noise * signs).mean()) < 6 * spread
    assert abs(signs.mean()) < 6 / 4000**0.5
    # A uniform square has variance 4/45.
    assert abs((noise**2).mean() - 1 / 3) < 6 * (4 / 45 / 4000) ** 0.5


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dikin.Shifted(dikin.Ridge(DISC, 1.0)), "give one"),
        (lambda: dikin.Shifted(dikin.Ridge(DISC, 1.0), noise=-1.0), "noise must be finite"),
        (lambda: dikin.Shifted(dikin.Ridge(DISC, 1.0), season=1.0, period=0.0), "period must be"),
    ],
)
def test_refusals(make: Any, words: str) -> None:
    with pytest.raises(DikinError, match=words):
        make()


# --- wrappers of wrappers -------------------------------------------------------------------------

NESTED = {
    "understated shifted": lambda: dikin.Understated(
        dikin.Shifted(dikin.Ridge(DISC, 1.0, seed=3), 2.0)
    ),
    "shifted understated": lambda: dikin.Shifted(
        dikin.Understated(dikin.Ridge(DISC, 1.0, seed=3)), 2.0
    ),
    "shifted twice": lambda: dikin.Shifted(
        dikin.Shifted(dikin.Ridge(DISC, 1.0, seed=3), 2.0), season=1.0
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_a_wrapper_of_a_wrapper_keeps_the_laws(name: str) -> None:
    for check in CHECKS:
        check(NESTED[name], stream(0, check.__name__))


@pytest.mark.parametrize("name", NESTED)
def test_a_wrapped_environment_with_sums_of_its_own_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: what is wrapped inside does not see the rounds that are played."""

    monkeypatch.setattr(Wrapper, "_told", lambda self: self.environment)
    with pytest.raises(CheckFailedError, match="the best total"):
        laws.check_best_is_no_worse_than_any_point(NESTED[name], stream(0, "mutant"))
