"""What the laws leave out: the certificate near the boundary, seeds, several queries at once."""

import math
import warnings
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors


def learner_on_disc(seed: Any = 7) -> Any:
    return dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=seed)


def test_the_certificate_is_nan_where_rounding_decides_the_centre(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here nothing is known of the centre but where it starts."""
    learner, sure = learner_on_disc(), learner_on_disc()
    start = learner.geometry.start()
    monkeypatch.setattr(learner.geometry, "converged", lambda iterate: iterate[2, 0] == start[2, 0])
    for _ in range(3):
        learner.tell(learner.ask(), 0.1)
        sure.tell(sure.ask(), 0.1)
    with warnings.catch_warnings(record=True, action="always") as caught:
        assert math.isnan(learner.certificate)
    assert [(w.category, w.filename) for w in caught] == [(errors.CertificateWarning, __file__)]
    assert "until it is farther inside" in str(caught[0].message)
    monkeypatch.undo()
    assert learner.certificate == sure.certificate  # nothing was forgotten meanwhile


def test_seeds() -> None:
    first = {seed: tuple(learner_on_disc(seed).ask().point) for seed in (0, 1, 2, 2**64, 2**128)}
    assert len({*first.values()}) == 5
    assert tuple(learner_on_disc(np.int64(2)).ask().point) == first[2]
    assert tuple(learner_on_disc(None).ask().point) not in first.values()


def test_a_domain_without_its_centre_is_an_error_and_not_an_endless_loop() -> None:
    broken = dikin.Box([0, 0], [1, 1])
    vars(broken)["center"] = np.array([99.0, 0.5])
    with pytest.raises(dikin.DikinError, match="does not contain its own centre"):
        _ = dikin.AdaptiveSmooth(broken, 1.0, seed=0).center


def test_a_learner_gives_several_queries_at_once() -> None:
    learner, twin = learner_on_disc(), learner_on_disc()
    assert learner.ask(n=3) == [twin.ask() for _ in range(3)]
    for wrong in (0, 1.5, True):
        with pytest.raises(errors.ParameterError, match="n must be"):
            learner.ask(n=wrong)
    assert learner.state() == twin.state()
