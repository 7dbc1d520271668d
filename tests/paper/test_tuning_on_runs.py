"""lambda_t and eta_t as real runs have them, beside the learners' own S_t.

eqn:oracle-tuning-strongly-main and eqn:oracle-tuning-Lipschitz-main: lambda_t is the fixed point of

    lambda = d sqrt(beta+1) / (sigma_{1:t} + lambda_{0:t})^(1/2)          smooth
    lambda = d^(2/3) (L+1)^(2/3) / (sigma_{1:t} + lambda_{0:t})^(1/3)     Lipschitz

and lies in (0, 1). The rate eta_t never rises, with a horizon or without.
"""

from collections.abc import Callable
from itertools import pairwise
from math import cbrt, log, sqrt
from typing import Any

import pytest

from paper.charts import holds
from paper.runs import ANSWERS, SETS, Record, altered, build

SETTINGS = [
    {"constants": "sharp", "horizon": None},
    {"constants": "sharp", "horizon": 500},
    {"constants": "paper", "horizon": 500},
    {"constants": "paper", "horizon": 10**12},
]
both = pytest.mark.parametrize("kind", ["smooth", "lipschitz"])
every_set = pytest.mark.parametrize("name", SETS)
every_setting = pytest.mark.parametrize(
    "options", SETTINGS, ids=lambda s: f"{s['constants']}-{s['horizon']}"
)


def target(kind: str, record: Record) -> Callable[[float], float]:
    """The right-hand side of the equation at sigma_{1:t} + lambda_{0:t}."""
    if kind == "smooth":
        lead = record.dim * sqrt(record.units.curvature(1.5) + 1)
        return lambda total: lead / sqrt(total)
    lead = cbrt(record.dim) ** 2 * cbrt(record.units.slope(1.5) + 1) ** 2
    return lambda total: lead / cbrt(total)


def check_fixed_point(kind: str, record: Record) -> None:
    wanted = target(kind, record)
    assert len(record.lam) == record.rounds
    for t, lam in enumerate(record.lam):
        assert 0 < lam < 1
        assert lam == pytest.approx(wanted(record.S[t + 1]), rel=1e-13, abs=0)
        total = record.S[t] + record.sigma[t] + lam
        assert record.S[t + 1] == pytest.approx(total, rel=1e-15, abs=0)


@both
@every_setting
@every_set
def test_eqn_oracle_tuning_fixed_point_on_real_runs(kind: str, options: Any, name: str) -> None:
    """eqn:oracle-tuning-strongly-main, eqn:oracle-tuning-Lipschitz-main, lambda_t in (0, 1)."""

    def check(regularisation: Callable[[Any], Callable[[float], float]]) -> None:
        for answer in ("alternating", "middling"):
            learner = build(kind, SETS[name], **options)
            root = regularisation(learner._schedule)
            learner = altered(learner, regularisation=root)
            check_fixed_point(kind, Record(learner).play(ANSWERS[answer], 40))

    holds(
        check,
        lambda schedule: schedule.regularisation,
        lambda schedule: lambda total: schedule.regularisation(total) * (1 + 1e-12),
        lambda schedule: lambda total: schedule.regularisation(total * (1 + 1e-11)),
        lambda schedule: lambda total: schedule.regularisation(total) ** 2,
    )


@both
@every_set
def test_lambda_stays_below_one_because_of_lambda_0(kind: str, name: str) -> None:
    """With a thousandth of d^2 (beta+1) or d^2 (L+1)^2 for lambda_0 the first one is above 1."""

    def check(share: float) -> None:
        learner = build(kind, SETS[name])
        learner = altered(learner, first=share * learner._schedule.first)
        record = Record(learner).play(ANSWERS["outwards"], 20)
        assert min(record.lam) > 0
        assert max(record.lam) < 1

    holds(check, 1.0, 0.001)


def check_never_rises(eta: list[float]) -> None:
    assert all(0 < then <= now for now, then in pairwise(eta))


@both
@every_setting
@every_set
def test_eta_never_rises(kind: str, options: Any, name: str) -> None:
    for answer in ("alternating", "middling"):
        record = Record(build(kind, SETS[name], **options)).play(ANSWERS[answer], 60)
        assert len(record.eta) == 61
        schedule = record.learner._schedule
        assert record.eta == [schedule.rate(total, t + 1) for t, total in enumerate(record.S)]
        holds(check_never_rises, record.eta, [*record.eta, record.eta[-1] * (1 + 1e-15)])


def test_eta_without_a_horizon_needs_its_constant_start() -> None:
    """ln t/t rises from t = 1 to t = 3; its value at 3 stands in before."""

    def check(first: int) -> None:
        learner = build("smooth", SETS["disc"])

        def rate(total: float, t: int) -> float:
            clock = max(first, t)
            low = log(clock) / clock
            return min(1 / 6, sqrt((1 + learner.units.curvature(1.5)) / total + low) / 4)

        record = Record(altered(learner, rate=rate)).play(ANSWERS["middling"], 60)
        check_never_rises([rate(total, t + 1) for t, total in enumerate(record.S)])

    holds(check, 3, 1)


@both
@every_set
def test_eta_S_never_falls_with_a_horizon(kind: str, name: str) -> None:  # noqa: N802
    """Without one it may: see the next test."""
    for constants in ("sharp", "paper"):
        learner = build(kind, SETS[name], constants=constants, horizon=500)
        record = Record(learner).play(ANSWERS["middling"], 60)
        shifts = [eta * total for eta, total in zip(record.eta, record.S, strict=True)]
        check_never_rises(shifts[::-1])


def test_eta_S_may_fall_without_a_horizon() -> None:  # noqa: N802
    """The floor nu ln t/t falls faster than S grows: nothing may be built on eta S rising."""
    record = Record(build("smooth", SETS["ball"])).play(ANSWERS["middling"], 60)
    shifts = [eta * total for eta, total in zip(record.eta, record.S, strict=True)]
    with pytest.raises(AssertionError):
        check_never_rises(shifts[::-1])
