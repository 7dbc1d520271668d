"""The certificate against a plain reading of its definition, round by round and in dense matrices.

With tau_t = tr(H_t^-1), S = S_{t-1}, normalised units, and the result multiplied by B:

    C_T = 2 + lambda_0/2 + nu ln T/eta_{T+1} + sum_t [lambda_t/2 + exploration_t + smoothing_t
          + omega*(eta_t d |f~_t|)/eta_t]

    smooth:     exploration (beta/2) tau/d,      smoothing (beta + (lambda-sigma)/2) tau/(d+2)
    Lipschitz:  exploration L sqrt(tau/d),       smoothing L sqrt(tau/(d+2))
                                                           + ((lambda-sigma)/2) tau/(d+2)

With the paper's constants it is the paper's own bound, with its constants put back: eq:part-1,
eq:part-2, eq:part-3, eq:part-compara-4 and eqn: regret-form (Algorithm 2: the -lip equations).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import log, sqrt

import numpy as np
import pytest

from paper.charts import holds
from paper.runs import ANSWERS, SETS, Record, build

both = pytest.mark.parametrize("kind", ["smooth", "lipschitz"])
every_set = pytest.mark.parametrize("name", SETS)


@dataclass(frozen=True)
class Terms:
    """A round's numbers, from a record and nothing else."""

    record: Record
    t: int

    @property
    def tau(self) -> float:
        return float(np.trace(np.linalg.inv(self.record.H[self.t])))

    @property
    def bend(self) -> tuple[float, float]:
        """Beta and L in normalised units: 1.5 R^2/B and 1.5 R/B."""
        radius, half = self.record.units.radius, (11 - 3) / 2
        return 1.5 * radius**2 / half, 1.5 * radius / half

    @property
    def stability(self) -> float:
        x, eta, d = self.record.x[self.t], self.record.eta[self.t], self.record.dim
        s = eta * d * abs(self.record.f[self.t] + self.record.lam[self.t] / 2 * float(x @ x))
        return (-s - log(1 - s)) / eta


Cost = Callable[[Terms], float]


def smooth_cost(r: Terms) -> float:
    d, (beta, _) = r.record.dim, r.bend
    lam, sigma = r.record.lam[r.t], r.record.sigma[r.t]
    exploration = beta / 2 * r.tau / d
    smoothing = (beta + (lam - sigma) / 2) * r.tau / (d + 2)
    return lam / 2 + exploration + smoothing + r.stability


def lipschitz_cost(r: Terms) -> float:
    d, (_, lip) = r.record.dim, r.bend
    lam, sigma = r.record.lam[r.t], r.record.sigma[r.t]
    exploration = lip * sqrt(r.tau / d)
    smoothing = lip * sqrt(r.tau / (d + 2)) + (lam - sigma) / 2 * r.tau / (d + 2)
    return lam / 2 + exploration + smoothing + r.stability


COST = {"smooth": smooth_cost, "lipschitz": lipschitz_cost}


def closing(r: Record) -> float:
    return 2 + r.first / 2 + r.nu * log(r.rounds) / r.eta[-1]


def literal(cost: Cost, rest: Callable[[Record], float], record: Record) -> float:
    return 4.0 * (rest(record) + sum(cost(Terms(record, t)) for t in range(record.rounds)))


def check_literal(
    formula: tuple[Cost, Callable[[Record], float]], kind: str, name: str, horizon: int | None
) -> None:
    for answer in ("middling", "alternating"):
        record = Record(build(kind, SETS[name], horizon=horizon))
        for rounds in (1, 1, 3, 30):
            record.play(ANSWERS[answer], rounds)
            wanted = literal(*formula, record)
            assert record.learner.certificate == pytest.approx(wanted, rel=1e-10)


@both
@pytest.mark.parametrize("horizon", [None, 300])
@every_set
def test_certificate_is_its_definition_computed_literally(
    kind: str, horizon: int | None, name: str
) -> None:
    right = COST[kind]
    holds(
        partial(check_literal, kind=kind, name=name, horizon=horizon),
        (right, closing),
        (COST["lipschitz" if kind == "smooth" else "smooth"], closing),
        (right, lambda r: closing(r) - 2),
        (right, lambda r: closing(r) + r.first / 2),
        (right, lambda r: 2 + r.first / 2 + r.nu * log(r.rounds + 1) / r.eta[-1]),
        (lambda r: right(r) - r.stability, closing),
        (lambda r: right(r) + r.record.lam[r.t] / 2, closing),
        (lambda r: right(r) + r.record.sigma[r.t] * r.tau / (r.record.dim + 2), closing),
    )


def test_certificate_before_the_first_round_is_its_constant_part() -> None:
    learner = build("smooth", SETS["disc"])
    assert learner.certificate == pytest.approx(4 * (2 + learner._schedule.first / 2), rel=1e-14)


# --- the paper's own bound ---------------------------------------------------------------------
#
# With mu = 1/(eta_t S_{t-1}), at which |H^(-1/2) u|^2 is bounded for every direction u:


def paper_smooth_parts(r: Terms) -> dict[str, float]:
    (beta, _), d, t = r.bend, r.record.dim, r.t
    lam, eta, total = r.record.lam[t], r.record.eta[t], r.record.S[t]
    mu = 1 / (eta * total)
    return {
        "Regularization I, II (eq:part-1)": 2 * lam / 2,
        "Smooth I, II (eq:part-2)": 2 * (beta + lam) / 2 * mu,
        "Exploration (eq:part-3)": beta / 2 * mu,
        "Reg Term (eqn: regret-form)": 2 * eta * (2 * d) ** 2,
    }


def paper_lipschitz_parts(r: Terms) -> dict[str, float]:
    (_, lip), d, t = r.bend, r.record.dim, r.t
    lam, eta, total = r.record.lam[t], r.record.eta[t], r.record.S[t]
    mu = 1 / (eta * total)
    return {
        "Regularization I, II (eq:part-1-lip)": 2 * lam / 2,
        "Smooth I, II (eq:part-2-lip)": 2 * (lip + lam) * sqrt(mu),
        "Exploration (eq:part-3-lip)": lip * sqrt(mu),
        "Reg Term (eqn: regret-form)": 2 * eta * (2 * d) ** 2,
    }


PARTS = {"smooth": paper_smooth_parts, "lipschitz": paper_lipschitz_parts}


def paper_closing(r: Record) -> float:
    """Comparator Bias, lambda_0/2 |(x~, 1)|^2 with |x~| <= 1, and nu_bar ln T/eta_{T+1}."""
    return 2 + r.first / 2 * (1 + 1) + 800 * r.nu * log(r.rounds) / r.eta[-1]


@both
@every_set
def test_certificate_in_paper_mode_is_the_paper_bound_computed_literally(
    kind: str, name: str
) -> None:
    def check(left_out: str | None) -> None:
        learner = build(kind, SETS[name], constants="paper", horizon=1000)
        record = Record(learner).play(ANSWERS["alternating"], 60)
        # lambda_0 is a million and more: compare the sum of the rounds, which it would hide.
        rounds = record.learner.certificate / 4 - paper_closing(record)
        parts = [PARTS[kind](Terms(record, t)) for t in range(record.rounds)]
        wanted = sum(v for part in parts for name, v in part.items() if name != left_out)
        digits = 1e-15 * paper_closing(record)
        assert rounds == pytest.approx(wanted, rel=1e-10, abs=60 * digits)
        # Vacuous, as the documentation says: the trivial bound is 2 a round.
        assert record.learner.certificate / 4 > 2 * 1000

    smoothing = "Smooth I, II (eq:part-2)" if kind == "smooth" else "Smooth I, II (eq:part-2-lip)"
    holds(check, None, smoothing, "Reg Term (eqn: regret-form)")


@both
@every_set
def test_certificate_in_paper_mode_is_below_the_displayed_bounds(kind: str, name: str) -> None:
    """The right-hand sides of eq:part-2 and eq:part-3 have a bound on eta_t put in."""
    learner = build(kind, SETS[name], constants="paper", horizon=10**14)
    record = Record(learner).play(ANSWERS["alternating"], 30)

    def check(factor: float) -> None:
        for t in range(record.rounds):
            r, d, lam, total = Terms(record, t), record.dim, record.lam[t], record.S[t]
            parts, (beta, lip) = PARTS[kind](r), r.bend
            if kind == "smooth":
                root = factor * sqrt((beta + 1) * total)
                assert parts["Smooth I, II (eq:part-2)"] <= 2 * d * (beta + lam) / root
                assert parts["Exploration (eq:part-3)"] <= d * beta / root
            else:
                price = d ** (2 / 3) * (lip + 1) ** (2 / 3) / total ** (1 / 3) / factor
                assert parts["Smooth I, II (eq:part-2-lip)"] <= 2 * price
                assert parts["Exploration (eq:part-3-lip)"] <= price

    holds(check, 1.0, 20.0)
