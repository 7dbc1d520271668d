"""lemma:FTRL-regret on real runs, and the comparator that it is used with (eq:part-compara-4).

The losses are l_t(u) = g_t.u + (sigma_t+lambda_t)/2 |u - y_t|^2, the regularisers R_t(u) =
lambda_0/2 |u|^2 + kappa psi(u)/eta_t, and F_t = R_t + l_1 + ... + l_{t-1}. The lemma bounds
sum l_t(y_t) - l_t(u) for every u. Its two sides differ by F_{T+1}(u) - F_{T+1}(y_{T+1}), exactly,
because every y_t is a minimiser inside the set: so that is what is checked, and for u = y_{T+1} it
is zero.
"""

from collections.abc import Callable
from functools import cache, partial
from math import log, sqrt

import numpy as np
import pytest

from paper.charts import Array, Chart, direction, every_domain, exit_time, holds, interior
from paper.runs import ANSWERS, SETS, Record, altered, build

both = pytest.mark.parametrize("kind", ["smooth", "lipschitz"])
every_set = pytest.mark.parametrize("name", SETS)
ROUNDS = 40


def surrogate(r: Record, t: int, u: Array) -> float:
    away = u - r.y[t]
    return float(r.g[t] @ u) + (r.sigma[t] + r.lam[t]) / 2 * float(away @ away)


def regulariser(r: Record, t: int, u: Array) -> float:
    """R_{t+1}, t counting from 0."""
    return r.first / 2 * float(u @ u) + r.kappa / r.eta[t] * r.psi.value(u)


def left(r: Record, u: Array) -> float:
    return sum(surrogate(r, t, r.y[t]) - surrogate(r, t, u) for t in range(r.rounds))


def right(r: Record, u: Array) -> float:
    total = regulariser(r, r.rounds, u) - regulariser(r, 0, r.y[0])
    for t in range(r.rounds):
        here, there = r.y[t], r.y[t + 1]
        away = there - here
        total += float(r.g[t] @ (here - there))
        total -= r.divergence(t, there, here) + (r.sigma[t] + r.lam[t]) / 2 * float(away @ away)
        total += regulariser(r, t, there) - regulariser(r, t + 1, there)
    return total


def with_the_typo(r: Record, u: Array) -> float:
    """x_t - x_{t-1} in the place of x_t - x_{t+1}, as in two lines of the paper's proof."""
    total = right(r, u)
    for t in range(r.rounds):
        total += float(r.g[t] @ (r.y[t + 1] - r.y[max(t - 1, 0)]))
    return total


def without_changing_rates(r: Record, u: Array) -> float:
    steps = range(r.rounds)
    change = (regulariser(r, t, r.y[t + 1]) - regulariser(r, t + 1, r.y[t + 1]) for t in steps)
    return right(r, u) - sum(change)


def without_divergence(r: Record, u: Array) -> float:
    return right(r, u) + sum(r.divergence(t, r.y[t + 1], r.y[t]) for t in range(r.rounds))


@cache
def run(kind: str, name: str, constants: str) -> Record:
    horizon = 10**12 if constants == "paper" else None
    learner = build(kind, SETS[name], constants=constants, horizon=horizon)
    return Record(learner).play(ANSWERS["swinging"], ROUNDS)


def check_lemma(bound: Callable[[Record, Array], float], record: Record) -> None:
    size = sum(abs(surrogate(record, t, record.y[t])) for t in range(record.rounds))
    rounding = 1e-9 * (1 + size + abs(regulariser(record, record.rounds, record.y[-1])))
    for u in [record.y[-1], record.y[0], *interior(record.psi, 7, count=3)]:
        slack = bound(record, u) - left(record, u)
        exact = record.divergence(record.rounds, u, record.y[-1])
        assert slack >= -rounding
        # F_{T+1} at a far u is large itself.
        assert abs(slack - exact) <= rounding + 1e-9 * abs(exact)


@both
@every_set
def test_lemma_FTRL_regret(kind: str, name: str) -> None:  # noqa: N802
    check = partial(check_lemma, record=run(kind, name, "sharp"))
    holds(check, right, with_the_typo, without_divergence)


@pytest.mark.parametrize(("kind", "name"), [("smooth", "disc"), ("lipschitz", "box")])
def test_lemma_FTRL_regret_pays_for_changing_rates(kind: str, name: str) -> None:  # noqa: N802
    """Where eta_t has left its cap."""
    holds(
        partial(check_lemma, record=run(kind, name, "sharp")),
        right,
        without_changing_rates,
    )


@both
@every_set
def test_lemma_FTRL_regret_with_the_paper_constants(kind: str, name: str) -> None:  # noqa: N802
    check_lemma(right, run(kind, name, "paper"))


@both
@every_set
def test_lemma_FTRL_regret_needs_minimisers(kind: str, name: str) -> None:  # noqa: N802
    """Not one centre beside its minimiser, nor centres with another weight of the barrier."""

    def check(moved: float) -> None:
        record = Record(build(kind, SETS[name])).play(ANSWERS["middling"], ROUNDS)
        record.y[20] = record.y[20] * (1 + moved) + moved
        check_lemma(right, record)

    holds(check, 0.0, 1e-3)

    def kappa(wrong: float) -> None:
        learner = build(kind, SETS[name])
        record = Record(altered(learner, kappa=wrong))
        record.kappa = 1.0
        check_lemma(right, record.play(ANSWERS["middling"], ROUNDS))

    holds(kappa, 1.0, 1.01)


def check_regret_form(price: Callable[[Record, int], float], record: Record) -> None:
    """sum l_t(y_t) - l_t(u) <= lambda_0/2 |u|^2 + kappa (psi(u) - psi(y_1))/eta_{T+1} + prices."""
    base = record.kappa / record.eta[-1] * record.psi.value(np.zeros(record.dim))
    paid = sum(price(record, t) for t in range(record.rounds))
    for u in [record.y[-1], *interior(record.psi, 9, count=3)]:
        bound = regulariser(record, record.rounds, u) - base + paid
        assert left(record, u) <= bound + 1e-9 * (1 + abs(bound))


def nothing(r: Record, t: int) -> float:
    return 0.0


@both
@every_set
def test_eqn_regret_form(kind: str, name: str) -> None:
    """A round costs 2 eta_t |g_t|*^2 with the paper's constants and T >= rho."""
    check = partial(check_regret_form, record=run(kind, name, "paper"))
    holds(check, lambda r, t: 2 * r.eta[t] * r.dual(t) ** 2, nothing)


@both
@every_set
def test_eqn_regret_form_with_the_sharp_constants(kind: str, name: str) -> None:
    """A round costs omega*(eta_t |g_t|*)/eta_t, which is at most eta_t |g_t|*^2."""
    record = run(kind, name, "sharp")
    check = partial(check_regret_form, record=record)
    holds(check, Record.round_bound, lambda r, t: -r.round_bound(t))
    assert all(
        record.round_bound(t) <= record.eta[t] * record.dual(t) ** 2 for t in range(record.rounds)
    )


def sum_of_the_lemma(r: Record, t: int, factor: float = 1.0) -> float:
    """A term of the sums of both lemmas, with the constants of their proofs and the 1/T of eta."""
    d, T, S = r.dim, float(r.learner.horizon or 0), r.S[t]
    if r.learner.kind == "adaptivesmooth":
        beta = r.units.curvature(1.5)
        return factor * 4 * d * (sqrt((beta + 1) / S) + sqrt(r.nu / (T * log(T))))
    slope = r.units.slope(1.5)
    return factor * 8 * (d * (slope + 1)) ** (2 / 3) * (1 / S + 1 / T) ** (1 / 3)


@both
@every_set
def test_lem_reg_term(kind: str, name: str) -> None:
    """lem: reg term smooth and lem: reg term Lipschitz, in a run: |g_t|* <= 2d and the paper's eta.

    A hundredth of the sum is less than what a round costs.
    """
    record = run(kind, name, "paper")

    def check(factor: float) -> None:
        check_regret_form(partial(sum_of_the_lemma, factor=factor), record)
        for t in range(record.rounds):
            assert 2 * record.eta[t] * record.dual(t) ** 2 <= sum_of_the_lemma(record, t, factor)

    holds(check, 1.0, 0.01)


# --- the comparator ----------------------------------------------------------------------------


def convex_losses(dim: int, seed: int) -> list[Callable[[Array], float]]:
    """Convex, within [-1, 1] on the unit ball: cones, bowls, slopes and the largest of some."""
    rng = np.random.default_rng(seed)
    losses: list[Callable[[Array], float]] = []
    for _ in range(6):
        theta = rng.normal(size=dim)
        theta *= rng.random() / np.linalg.norm(theta)
        far = 1 + float(np.linalg.norm(theta))
        rows = rng.normal(size=(3, dim))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        losses += [
            lambda u, o=theta, f=far: 2 * float(np.linalg.norm(u - o)) / f - 1,
            lambda u, o=theta, f=far: 2 * float((u - o) @ (u - o)) / f**2 - 1,
            lambda u, a=rows[0]: float(a @ u),
            lambda u, a=rows: float((a @ u).max()),
        ]
    return losses


def boundary(psi: Chart, seed: int, count: int = 12) -> list[Array]:
    rng = np.random.default_rng(seed)
    ways = [direction(psi, rng) for _ in range(count)]
    return [exit_time(psi.value, np.zeros(psi.dim), way) * way for way in ways]


@every_domain
def test_eq_part_1_regularisation_is_at_most_half_of_lambda(psi: Chart) -> None:
    """lambda/2 |u|^2 <= lambda/2 on the set, because R reaches its farthest point."""

    def check(stretched: float) -> None:
        for x in boundary(psi, 25, count=40):
            assert stretched**2 * float(x @ x) <= 1 + 1e-12

    holds(check, 1.0, 5.0)


@every_domain
def test_y_1_minimises_the_barrier_and_the_first_objective(psi: Chart) -> None:
    """argmin psi is the origin, where lambda_0/2 |u|^2 + kappa psi(u)/eta_1 is least as well."""

    def check(u: Array) -> None:
        gradient = psi.gradient(u)
        assert sqrt(float(gradient @ np.linalg.solve(psi.hessian(u), gradient))) <= 1e-8

    holds(check, np.zeros(psi.dim), *(1e-3 * x for x in boundary(psi, 26, count=2)))


def check_bias(shares: float, psi: Chart) -> None:
    """sum_t f_t(x~) - f_t(x) <= 2 for x~ = (1 - shares/T) x + (shares/T) y_1, y_1 = 0."""
    losses = convex_losses(psi.dim, 21)
    rounds = len(losses)
    for x in boundary(psi, 22):
        moved = (1 - shares / rounds) * x
        biases = [f(moved) - f(x) for f in losses]
        assert sum(biases) <= 2
        assert rounds * max(biases) <= 2  # the worst of them, round after round


@every_domain
def test_eq_part_compara_4_comparator_bias_is_at_most_2(psi: Chart) -> None:
    holds(partial(check_bias, psi=psi), 1.0, 8.0)


def test_eq_part_compara_4_needs_convexity() -> None:
    def check(loss: Callable[[float], float]) -> None:
        rounds = 1000
        assert all(abs(loss(x)) <= 1 for x in np.linspace(-1, 1, 2001))
        assert rounds * (loss(1 - 1 / rounds) - loss(1)) <= 2

    # Steep at the end, but bounded: smooth or not, only convexity helps.
    holds(check, lambda x: -x, lambda x: 2 * sqrt(1 - x * x) - 1)


def check_penalty(shares: float, psi: Chart, claim: float = 1.0) -> None:
    """R'_{T+1}(x~) <= lambda_0/2 + nu ln T/eta: |x~| <= 1 and lemma:bound-Minkowski."""
    for rounds in (2, 50, 10**6):
        for x in boundary(psi, 23):
            moved = (1 - shares / rounds) * x
            assert moved @ moved <= 1
            rise = psi.value(moved) - psi.value(np.zeros(psi.dim))
            assert 0 <= rise <= claim * psi.nu * log(rounds) + 1e-9


@every_domain
def test_eq_part_compara_4_penalty_of_the_moved_comparator(psi: Chart) -> None:
    holds(partial(check_penalty, psi=psi), 1.0, 0.0)
    holds(partial(check_penalty, 1.0, psi), 1.0, 0.05)


@both
@every_set
def test_eq_part_compara_4_penalty_on_real_runs(kind: str, name: str) -> None:
    """R'_{T+1}(x~) <= lambda_0/2 + kappa nu ln T/eta_{T+1}, with the run's own numbers."""

    def check(first: float) -> None:
        record = run(kind, name, "sharp")
        psi, rounds = record.psi, record.rounds
        base = record.kappa / record.eta[-1] * psi.value(np.zeros(psi.dim))
        most = first / 2 + record.kappa * record.nu * log(rounds) / record.eta[-1]
        for x in boundary(psi, 24):
            moved = (1 - 1 / rounds) * x
            assert regulariser(record, rounds, moved) - base <= most

    holds(check, run(kind, name, "sharp").first, -1e3)
