"""The certificate against a plain reading of its definition, round by round and in dense matrices.

With y_m the centre of the query of round t, tau_t = tr(H^-1) there, normalised units, e the share
of the centre in the comparator, and the result multiplied by B:

    C_T = 2 e T/(1 + s) + kappa growth(e)/eta_{T+1} + (1 - e)^2/2 (lambda_0 + sum_t lambda_t)
          + sum_t [l_t(y_m) + a_t - lambda_t/2 |y_m|^2] - F_{T+1}(y_{T+1})

    l_t(x) = g_t.x + (sigma_t + lambda_t)/2 |x - y_m|^2
    F(x)   = sum_t l_t(x) + lambda_0/2 |x|^2 + kappa (psi(x) - psi(0))/eta_{T+1}
    smooth: a_t = (beta/2) tau/d + ((beta - sigma)/2) tau/(d+2),
    Lipschitz: a_t = L sqrt(tau/d) - (sigma/2) tau/(d+2)

Answers come at once, or up to fifty rounds late and out of order.
"""

from collections.abc import Callable
from functools import cache, partial
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.theory.certificate import Account, Part
from paper.charts import Array, holds
from paper.runs import ANSWERS, SETS, Record, build

both = pytest.mark.parametrize("kind", ["smooth", "lipschitz"])
every_set = pytest.mark.parametrize("name", SETS)
HALF = (11 - 3) / 2


# --- the set -----------------------------------------------------------------------------------


def rise(domain: Any, e: float) -> float:
    """The largest psi((1 - e) u) - psi(0)."""
    match domain:
        case dikin.Ball() | dikin.Ellipsoid():
            return -log(1 - (1 - e) ** 2)
        case dikin.Box():
            return -domain.dim * log(1 - (1 - e) ** 2)
        case dikin.Simplex() | dikin.Spectrahedron():
            corner = np.array([1 - e + e / domain.n] + [e / domain.n] * (domain.n - 1))
            return float(-np.log(domain.n * corner).sum())
        case dikin.Product():
            return sum(rise(part, e) for part in domain.parts)
        case dikin.Affine():
            return rise(domain.domain, e)
    return domain.nu * log(1 / e)


def symmetry(domain: Any) -> float:
    """How much of -X fits into X around the centre."""
    match domain:
        case dikin.Ball() | dikin.Ellipsoid() | dikin.Box():
            return 1.0
        case dikin.Simplex() | dikin.Spectrahedron():
            return 1 / (domain.n - 1)
        case dikin.Product():
            return min(symmetry(part) for part in domain.parts)
        case dikin.Affine():
            return symmetry(domain.domain)
        case dikin.Polytope():
            return 1 / (len(domain.b) - 1)
    raise NotImplementedError(domain)


# --- the terms ---------------------------------------------------------------------------------


def constants(r: Record) -> tuple[float, float]:
    """Beta and L in normalised units: 1.5 R^2/B and 1.5 R/B."""
    return 1.5 * r.units.radius**2 / HALF, 1.5 * r.units.radius / HALF


def fall(r: Record) -> float:
    return 2 / (1 + symmetry(r.learner.domain))


def share(r: Record) -> float:
    """e: the best one at the rate of a game without curvature, S^(1+1/k) = S_0^(1+1/k) + ... ."""
    (beta, lip), d, T = constants(r), r.dim, r.rounds
    if isinstance(r.learner, dikin.AdaptiveSmooth):
        S = (r.first**1.5 + 1.5 * d * sqrt(beta + 1) * T) ** (2 / 3)
        clock = r.learner.horizon or max(T + 1, 3)
        floor = r.nu / clock * log(clock) if r.kappa == 1 else r.nu / (clock * log(clock))
        eta = sqrt((beta + 1) / S + floor) / (2 * d)
    else:
        S = (r.first ** (4 / 3) + 4 / 3 * (d * (lip + 1)) ** (2 / 3) * T) ** 0.75
        rest = 0.0 if r.kappa == 1 else 1 / r.learner.horizon
        eta = ((lip + 1) ** 2 / d**4 * (1 / S + rest)) ** (1 / 3)
    eta = min(eta, 1 / (3 * d)) if r.kappa == 1 else eta
    return min(1.0, r.kappa * r.nu / (fall(r) * T * eta))


def model(r: Record, t: int, x: Array, centre: Array | None = None) -> float:
    """l_t(x)."""
    away = x - (r.at[t] if centre is None else centre)
    return float(r.g[t] @ x) + (r.sigma[t] + r.lam[t]) / 2 * float(away @ away)


def objective(r: Record, x: Array) -> float:
    """F_{T+1}(x) without the barrier."""
    return sum(model(r, t, x) for t in range(r.rounds)) + r.first / 2 * float(x @ x)


def price(r: Record, t: int) -> float:
    """a_t."""
    (beta, lip), d = constants(r), r.dim
    tau = float(np.trace(np.linalg.inv(r.H[t])))
    if isinstance(r.learner, dikin.AdaptiveSmooth):
        return beta / 2 * tau / d + (beta - r.sigma[t]) / 2 * tau / (d + 2)
    return lip * sqrt(tau / d) - r.sigma[t] / 2 * tau / (d + 2)


def parts(r: Record) -> dict[str, float]:
    """The certificate, term by term."""
    e, y, stiff, rounds = share(r), r.y[-1], r.kappa / r.eta[-1], range(r.rounds)
    return {
        "comparator": fall(r) * e * r.rounds,
        "rise": stiff * rise(r.learner.domain, e),
        "regulariser": (1 - e) ** 2 / 2 * (r.first + sum(r.lam)),
        "credit": -sum(r.lam[t] / 2 * float(r.at[t] @ r.at[t]) for t in rounds),
        "models": sum(model(r, t, r.at[t]) for t in rounds),
        "prices": sum(price(r, t) for t in rounds),
        "objective": -objective(r, y),
        "barrier": -stiff * (r.psi.value(y) - r.psi.value(np.zeros(r.dim))),
    }


# --- the comparison ----------------------------------------------------------------------------


Parts = dict[str, float]
Formula = Callable[[Record, Parts], float]


@cache
def run(kind: str, name: str, horizon: int | None, constants: str, late: int) -> Any:
    """A run with its terms."""
    learner = build(kind, SETS[name], horizon=horizon, constants=constants)
    answer = ANSWERS["middling" if late == 0 else "swinging"]
    record = Record(learner).play_late(answer, 60, late)
    return record, parts(record)


def check_literal(formula: Formula, which: tuple[Any, ...]) -> None:
    for late in (0, 50):
        record, terms = run(*which, late)
        # The terms are large and of both signs: 1e-9 of them is a rounding or two a round.
        size = sum(map(abs, terms.values()))
        assert abs(record.learner.certificate / HALF - formula(record, terms)) <= 1e-9 * size


def right(r: Record, terms: Parts) -> float:
    return sum(terms.values())


def without(name: str) -> Formula:
    return lambda r, terms: right(r, terms) - terms[name]


def unsigned(r: Record, terms: Parts) -> float:
    return right(r, terms) - 2 * terms["credit"]


def at_the_present_centre(r: Record, terms: Parts) -> float:
    """As if an answer belonged to the centre that it finds."""
    found = (model(r, t, r.y[t], r.y[t]) for t in range(r.rounds))
    return right(r, terms) - terms["models"] + sum(found)


def at_the_old_share(r: Record, terms: Parts) -> float:
    """e = 1/T."""
    e, held = 1 / r.rounds, r.first + sum(r.lam)
    moved = fall(r) + r.kappa / r.eta[-1] * rise(r.learner.domain, e) + (1 - e) ** 2 / 2 * held
    rest = ("credit", "models", "prices", "objective", "barrier")
    return moved + sum(terms[name] for name in rest)


@both
@pytest.mark.parametrize("horizon", [None, 300])
@every_set
def test_certificate_is_its_definition_computed_literally(
    kind: str, horizon: int | None, name: str
) -> None:
    which = (kind, name, horizon, "sharp")
    # In a game so short that the comparator is the centre itself, two terms are zero.
    terms = [term for term, value in run(*which, 0)[1].items() if value != 0.0]
    assert len(terms) == 8 or share(run(*which, 0)[0]) == 1.0
    wrong = [*map(without, terms), unsigned, at_the_present_centre, at_the_old_share]
    holds(partial(check_literal, which=which), right, *wrong)


@both
@every_set
def test_certificate_with_the_paper_s_constants_is_the_same(kind: str, name: str) -> None:
    """Below rho nothing is learnt, and it grows as the rounds do: the comparator is the centre."""
    which = (kind, name, 1000, "paper")
    holds(partial(check_literal, which=which), right, without("comparator"))
    record, _ = run(*which, 0)
    assert share(record) == 1.0
    assert record.learner.certificate / HALF > 0.9 * fall(record) * record.rounds


class Cone:
    """A set whose barrier grows as nu ln(1/e), the most that any does."""

    nu, symmetry = 6.0, 0.5

    def barrier_growth(self, share: float) -> float:
        return self.nu * log(1 / share)


class ConstantRate:
    """A schedule whose rate is the same in every game."""

    kappa, eta = 1.5, 0.2

    def typical(self, rounds: int) -> float:
        return self.eta


@pytest.mark.parametrize("rounds", [20, 100, 10_000])
def test_the_share_of_the_centre_is_the_best_one_at_the_typical_rate(rounds: int) -> None:
    """Nothing but the two terms that depend on it, against shares on a fine grid."""
    domain, schedule = Cone(), ConstantRate()
    account = Account(rounds, spent=0.0, held=0.0, stiff=schedule.kappa / schedule.eta)
    fall = 2 / (1 + domain.symmetry)
    shares = np.geomspace(1e-6, 1.0, 100_001).tolist()
    best = min(account.bound(domain, share, fall) for share in shares)
    # At its least the bound is flat: a grid this fine is off by 1e-8 of it.
    bound = Part(account, schedule, scale=4.0).bound(domain, rounds, varies=8.0)
    assert bound == pytest.approx(4 * best, rel=1e-7)


def test_certificate_before_the_first_round_is_zero() -> None:
    for kind in ("smooth", "lipschitz"):
        assert build(kind, SETS["disc"]).certificate == 0.0
