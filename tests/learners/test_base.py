"""The game from outside: any order of answers, lost ones, one seed one play, nothing shared."""

import json
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.learners.base import Learner

MAKERS = [dikin.AdaptiveSmooth, dikin.AdaptiveLipschitz]
VOID = errors.CertificateWarning


def learner_on_disc(make: Callable[..., Learner] = dikin.AdaptiveSmooth, **arguments: Any) -> Any:
    return make(dikin.Ball(2), 1.0, **({"seed": 7} | arguments))


def frozen(learner: Learner) -> str:
    return json.dumps(learner.state(), sort_keys=True)


def points(learner: Learner, rounds: int) -> Iterator[list[float]]:
    """Play; the loss depends on the point, so that one wrong bit spreads."""
    for _ in range(rounds):
        query = learner.ask()
        learner.tell(query, float(np.tanh(query.point.sum())), 0.25)
        yield query.point.tolist()


# --- order ---------------------------------------------------------------------------------------


# --- the certificate -----------------------------------------------------------------------------


def near_the_boundary(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A learner of whose centre nothing is known but where it starts."""
    learner = learner_on_disc()
    start = learner.geometry.start()
    monkeypatch.setattr(learner.geometry, "converged", lambda iterate: iterate[2, 0] == start[2, 0])
    return learner


def test_the_certificate_is_nan_where_rounding_decides_the_centre(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner, sure = near_the_boundary(monkeypatch), learner_on_disc()
    for _ in range(3):
        learner.tell(learner.ask(), 0.1)
        sure.tell(sure.ask(), 0.1)
    with warnings.catch_warnings(record=True, action="always") as caught:
        assert math.isnan(learner.certificate)
    assert [(w.category, w.filename) for w in caught] == [(VOID, __file__)]
    assert "until it is farther inside" in str(caught[0].message)
    monkeypatch.undo()
    assert learner.certificate == sure.certificate  # nothing was forgotten meanwhile


# --- randomness ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_seeds(make: Callable[..., Learner]) -> None:
    play = {
        seed: list(points(learner_on_disc(make, seed=seed), 3)) for seed in (0, 1, 2, 2**64, 2**128)
    }
    assert len({json.dumps(p) for p in play.values()}) == 5
    assert list(points(learner_on_disc(make, seed=np.int64(2)), 3)) == play[2]
    assert list(points(learner_on_disc(make, seed=None), 3)) not in play.values()


def test_a_domain_without_its_centre_is_an_error_and_not_an_endless_loop() -> None:
    broken = dikin.Box([0, 0], [1, 1])
    vars(broken)["center"] = np.array([99.0, 0.5])
    with pytest.raises(dikin.DikinError, match="does not contain its own centre"):
        _ = dikin.AdaptiveSmooth(broken, 1.0, seed=0).center


def test_a_learner_gives_several_queries_at_once() -> None:
    learner, twin = (dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=1) for _ in range(2))
    assert learner.ask(n=3) == [twin.ask() for _ in range(3)]
    for wrong in (0, 1.5, True):
        with pytest.raises(errors.ParameterError, match="n must be"):
            learner.ask(n=wrong)
    assert learner.state() == twin.state()
