"""What is proved of a tuner that plays by a model, and what takes over where a model misleads.

A model chooses a centre y and a factor M with the ellipsoid y + M s inside the set, and forecasts
the value at y + M s by b + q.Ms + e(s), e even. All of it is known before the direction s is drawn,
and so the value v gives an estimate of a gradient without bias,

    ghat = d (v - b - q.Ms - e(s)) M^-T s + q,

and, whatever chose y, with a what exploring costs at most,

    E regret(u) <= E [ sum (ghat.y + a) - min_u sum ghat.u ].

That is the `Certificate`: nothing is clipped, and it is true of any model. How large it is, nobody
promises; the `Guard` does. It holds such a sum against what `Predictive` would have been promised
(`Virtual`). Where it is twice that, `Predictive` plays, until its promise is four times what it
was. In a declared range that is proved; without one values are clipped, and what decides is a
statistic: docs/mathematics.md, section 16. All vectors are chart vectors of the set.
"""

from __future__ import annotations

from math import inf, log, nan, sqrt
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.errors import ParameterError
from dikin.learners.predictive import Predictive

PHI, WALL = 0.15, 0.7
"""Of the ellipsoid of `Predictive`, and of the way to the walls, what is explored at least."""
AWAY = 0.5
"""Times the noise over the promise: how far the centre stays from walls."""
FIRST = 0.15
"""Exploring in the first rounds, in each coordinate, where the set allows it."""
FACTOR, RETURN, DOUBT = 2.0, 4.0, 1.0
"""The model plays up to so many promises, and again when the promise is so many times what it was;
so many standard deviations of a sum of estimates are taken for noise."""
GUESS = 10.0
"""The smoothness where nothing is declared: so many levels, times sqrt(d), per squared radius."""
CLIP, RECENT, LAST, START = 6.0, 31, 5, 20
"""Surprises are clipped at so many medians of the last so many; `Virtual` expects the median of the
last five values; before so many answers nothing is judged."""
EDGE, INSIDE = 0.06, 0.998
"""`Predictive` starts so far from walls; the largest square of a factor in the barrier's norm."""


class Play(NamedTuple):
    """What is kept of an open trial: all that its answer needs."""

    centre: Array
    covector: Array
    """d M^-T s."""
    trace: float
    """tr M M'."""
    expected: float
    """b + q.Ms + e(s)."""
    slope: Array
    """q."""
    failed: float = nan
    """The value that a failure counts as, fixed before s was drawn."""
    stretch: int = 0
    """Which stretch of the model's rounds it belongs to; -1 for those of `Predictive`."""
    query: Any = None
    """That of `Predictive`, which played it."""

    def estimate(self, surprise: float) -> Array:
        """The gradient, by how far the value was from the expected one."""
        return surprise * self.covector + self.slope


def play(
    centre: Array, factor: Array, direction: Array, level: float, slope: Array, even: float = 0.0
) -> Play:
    """What is kept of a trial at centre + factor @ direction; the function e must be even."""
    covector = np.asarray(len(direction) * np.linalg.solve(factor.T, direction), float)
    expected = level + float(slope @ (factor @ direction)) + even
    return Play(centre, covector, float((factor * factor).sum()), expected, slope)


def exploring_price(d: int, trace: float, smoothness: float, lipschitz: float) -> float:
    """What exploring costs at most in a round: a of Theorem 30."""
    smooth = smoothness * (d + 1.0) / (d + 2.0) * trace / d if smoothness < inf else inf
    steep = lipschitz * sqrt(trace / d) if lipschitz < inf else inf
    return min(smooth, steep)


class Certificate:
    """The bound on the regret of whatever was played: Theorem 30.

    It is proved if the losses are convex and have the constants, which are infinite where they are
    not known, and if nothing but the value of a trial depends on its direction: which answers have
    come must not. A failure counts as the value that was fixed for it, a value outside a declared
    range as the nearer end; a trial that is never answered does not count. Each of the `cells`, the
    features of a context, is compared with a best point of its own.
    """

    def __init__(
        self,
        domain: Domain,
        smoothness: float = inf,
        lipschitz: float = inf,
        value_range: tuple[float, float] | None = None,
        cells: int = 1,
    ) -> None:
        self.domain, self.smoothness, self.lipschitz = domain, smoothness, lipschitz
        self.low, self.high = value_range or (-inf, inf)
        self.estimates = np.zeros((cells, domain.dim))
        self.at_centres = self.squares = self.lengths = self.exploring = 0.0
        self.others = self.rounds = 0

    def counted(self, row: Play, value: float | None) -> float:
        """The value as it counts: None is a failure."""
        return row.failed if value is None else min(max(value, self.low), self.high)

    def add(self, row: Play, value: float | None, shares: Array | None = None) -> None:
        """Add an answer; in a context, `shares` are those of its features, which add up to one."""
        estimate, d = row.estimate(self.counted(row, value) - row.expected), self.domain.dim
        self.estimates += estimate if shares is None else np.outer(shares, estimate)
        self.at_centres += float(estimate @ row.centre)
        self.squares += row.trace
        self.lengths += sqrt(row.trace)
        self.exploring += exploring_price(d, row.trace, self.smoothness, self.lipschitz)
        self.rounds += 1

    def add_other(self) -> None:
        """Add a round that was played otherwise: it costs what a loss varies by at most.

        That a round is one of these must be known before its direction is drawn.
        """
        self.others += 1
        self.rounds += 1

    @property
    def value(self) -> float:
        """The bound for the constants declared; NaN without one."""
        if min(self.smoothness, self.lipschitz) == inf:
            return nan
        return self._bound(self.exploring, self.lipschitz)

    def certificate_for(
        self, *, smoothness: float | None = None, lipschitz: float | None = None
    ) -> float:
        """Return the bound on the expected regret for a constant that was not declared.

        Choose it without looking at the values: the smaller of two bounds is none.
        """
        d = self.domain.dim
        if smoothness is not None and lipschitz is None:
            return self._bound(smoothness * (d + 1.0) / (d + 2.0) * self.squares / d, inf)
        if lipschitz is not None and smoothness is None:
            return self._bound(lipschitz * self.lengths / sqrt(d), lipschitz)
        raise ParameterError("certificate_for needs one of smoothness=... and lipschitz=...")

    def _bound(self, exploring: float, lipschitz: float) -> float:
        total = self.at_centres + sum(self.domain.support(-linear) for linear in self.estimates)
        if self.others:
            exploring += self.others * min(lipschitz * self.domain.diameter, self.high - self.low)
        return exploring + total if exploring < inf else nan


class Virtual:
    """What `Predictive` would be promised, had it played: a few numbers, no vector.

    Its rules (section 13.3) with the curvature that the barrier has at the centre, lengths in
    units of the set's radius, and the constants as they are declared, or infinite.
    """

    def __init__(self, domain: Domain, smoothness: float, lipschitz: float, width: float) -> None:
        d, R = domain.dim, domain.radius
        trace = float(np.trace(inverse(domain.hessian(np.zeros(d))))) / R**2
        self.d, self.nu, self.stiff, self.width = d, domain.nu, d / trace, width
        self.beta, self.slope = smoothness * R**2, lipschitz * R
        self.rounds = self.total = self.square = self.rate = self.largest = 0.0
        self.exploring = self.noise = 0.0

    @property
    def smoothness(self) -> float:
        """The declared one, or that of a bowl which fills the range."""
        if min(self.beta, self.slope) < inf:
            return self.beta
        return self.width if self.width < inf else GUESS * sqrt(self.d) * self.largest

    def learn(self, surprise: float, level: float) -> None:
        """A round with this surprise, clipped at this level."""
        level = max(level, self.largest / 64.0, 1e-300)
        d, square = self.d, min(surprise * surprise, level * level)
        self.rounds += 1.0
        self.largest = max(self.largest, level)
        self.square += (square - self.square) / min(self.rounds, 64.0)
        v, n = max(sqrt(self.square), level / 8.0), self.rounds + 2.0
        low, cap = sqrt(2.0 * self.nu * log(n) / n) / (d * v), 0.9 / (d * level)
        self.rate = min(self.rate or 0.5 * low, cap)
        beta, slope = self.smoothness, self.slope
        cost = exploring_price(d, d / (self.stiff + self.shift), beta, slope)
        total = self.total or self.stiff / self.rate
        self.exploring += cost
        self.noise += 0.6 * self.rate * d * d * square
        self.total += 8.0 * cost * total / (total + sqrt(total * total + 16.0 * cost * total))
        smooth = sqrt(2.0 * beta * self.total) / (d * v) if beta < inf else inf
        steep = (slope * self.total / (d * v) ** 2) ** (2.0 / 3.0) if slope < inf else inf
        best = max(min(smooth, steep) - self.stiff, 0.0) / self.total if self.total else 0.0
        self.rate = min(0.5 * sqrt(best * best + low * low), cap)

    @property
    def shift(self) -> float:
        """eta S, the curvature that it explores with beside the barrier's."""
        return self.rate * self.total

    @property
    def promise(self) -> float:
        """B: exploring, noise, regularisers and barrier."""
        barrier = self.nu * log(self.rounds + 2.0) / self.rate if self.rate else inf
        return self.exploring + self.noise + 0.5 * self.total + barrier


class Stretch:
    """What a stretch of the model's rounds cost at most, by the estimates, but for their noise."""

    def __init__(self, d: int) -> None:
        self.linear, self.constant, self.charges = np.zeros(d), 0.0, 0.0
        self.square, self.cross, self.at_centres = np.zeros((d, d)), np.zeros(d), 0.0
        self.squares = 0.0

    def add(self, row: Play, surprise: float, cost: float) -> None:
        """Add a round with its price of exploring."""
        estimate, noise = row.estimate(surprise), surprise * row.covector
        self.linear += estimate
        self.constant += float(estimate @ row.centre) + cost
        share = float(noise @ row.centre)
        self.squares += surprise * surprise
        self.square += np.outer(noise, noise)
        self.cross += share * noise
        self.at_centres += share * share

    def cost(self, domain: Domain) -> float:
        """At least max over u of the sum of ghat.(y - u) + a, less DOUBT deviations.

        The function of u is concave: at any point, here about where ghat.u is least, its tangent
        is above it.
        """
        u = near_least(domain, self.linear)
        pull = self.square @ u - self.cross
        deviation = sqrt(max(float(u @ pull - self.cross @ u) + self.at_centres, 0.0))
        slope = -self.linear - (DOUBT / deviation * pull if deviation > 0.0 else 0.0)
        value = self.constant - float(self.linear @ u) - DOUBT * deviation
        return max(value + domain.support(slope) - float(slope @ u), 0.0) + self.charges


class Guard:
    """Lets a model play while what it costs is below what `Predictive` would be promised.

    Parameters
    ----------
    domain : Domain
        The set; its chart vectors are the coordinates.
    smoothness, lipschitz : float, optional
        Constants of the losses in these coordinates, if they are known.
    value_range : tuple of float, optional
        Least and largest value, if they are known.
    seed : int, optional
        For the directions of `Predictive`.

    Attributes
    ----------
    model_plays : bool
        Whether the model plays the next round.
    certificate : Certificate
        The bound on the regret of all rounds, whoever played them.
    promise : float
        The most so far that `Predictive` would have been promised.
    switches : int
        How often `Predictive` took over.
    """

    def __init__(
        self,
        domain: Domain,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        value_range: tuple[float, float] | None = None,
        seed: int | None = None,
    ) -> None:
        self.domain, self.seed = domain, seed
        self.smoothness, self.lipschitz = smoothness, lipschitz
        beta = inf if smoothness is None else smoothness
        steep = inf if lipschitz is None else lipschitz
        self.certificate = Certificate(domain, beta, steep, value_range)
        self.width = self.certificate.high - self.certificate.low
        self.virtual, self.virtual_charges = Virtual(domain, beta, steep, self.width), 0.0
        self.promise = 0.0
        self.stretch, self.waiting = Stretch(domain.dim), list[tuple[Play, float, float]]()
        self.values, self.sizes, self.misses = list[float](), list[float](), list[float]()
        self.fallback: Predictive | None = None
        self.first: tuple[Play, float | None] | None = None
        self.model_plays, self.asked, self.switches, self.until = True, 0, 0, 0.0
        self.centre, self.metric = np.zeros(domain.dim), np.eye(domain.dim)

    # --- where it is played ----------------------------------------------------------------------

    def shape(self, centre: Array, square: Array) -> tuple[Array, Array]:
        """Return the centre and the factor M that are played, for y and M M' that a model wants.

        The centre keeps away from the walls, and the ellipsoid lies inside.
        """
        d, domain, virtual = self.domain.dim, self.domain, self.virtual
        flat = (2.0 + virtual.shift) / PHI**2
        noise = d * sqrt(self.stretch.squares) / max(self.promise, 1e-300)
        y = retreated(domain, centre, min(max(1.0 / sqrt(flat), AWAY * noise), 0.5))
        hessian, flat = domain.hessian(y), flat / domain.radius**2
        if self.asked < d + 6:
            square = inverse(np.eye(d) / (d * FIRST**2) + hessian)
        else:
            least = inverse(hessian / WALL**2 + flat * np.eye(d))
            square = within(square, hessian, INSIDE - WALL**2) + least
        self.asked += 1
        factor = np.asarray(np.linalg.cholesky(square), float)
        return y, factor

    def begin(
        self,
        centre: Array,
        factor: Array,
        direction: Array,
        level: float,
        slope: Array,
        curvature: Array,
        failed: float = nan,
    ) -> Play:
        """Return the row of a trial at z = factor @ direction from the centre.

        The forecast is level + slope.z + z'curvature z/2, as far as the last values vary so much: a
        model of few rows may be absurd.
        """
        self.centre, z = centre, factor @ direction
        if self.values:
            low, high = min(self.values), max(self.values)
            width = high - low
        else:  # NaN without a range: the first forecast is then the second answer
            low = high = (self.certificate.low + self.certificate.high) / 2.0
            level, width = low, 0.0
        swing = np.linalg.norm(slope @ factor) + np.linalg.norm(factor.T @ curvature @ factor) / 2
        share = min(1.0, width / float(swing)) if swing > 0.0 else 0.0
        even = share * float(z @ curvature @ z) / 2.0
        level = min(max(level, low - width), high + width)
        row = play(centre, factor, direction, level, share * slope, even)
        return row._replace(failed=failed, stretch=self.switches)

    def ask(self, failed: float = nan) -> tuple[Array, Play]:
        """Return where `Predictive` plays and the row of that trial, where the model does not."""
        assert self.fallback is not None
        learner, domain = self.fallback, self.domain
        y, query = domain.locate(learner.center), learner.ask()
        point, hessian = domain.locate(query.point), domain.hessian(y)
        z = point - y
        square = float(z @ hessian @ z)  # z'Hz = 1, H = hessian + shift metric
        shift = max(1.0 - square, 0.0) / float(z @ self.metric @ z)
        half_way = abs(4.0 * square - 1.0) < 1e-9  # a round that only measures
        H = 4.0 * hessian if half_way else hessian + shift * self.metric
        level = learner.forecast if learner.rounds else median(self.values[-LAST:])
        trace = float(np.trace(inverse(H)))
        row = Play(y, domain.dim * (H @ z), trace, level, np.zeros(domain.dim), failed, -1, query)
        return point, row

    # --- what an answer says ---------------------------------------------------------------------

    def tell(self, row: Play, value: float | None) -> None:
        """Learn the value of a trial, None for a failure, and decide who plays next."""
        number = self.certificate.counted(row, value)
        if np.isnan(row.expected) and not self.values and self.first is None:
            self.first = row, value  # it was asked before any value was known
            return
        if self.first is not None:
            (first, told), self.first = self.first, None
            before = self.certificate.counted(first, told)
            self.tell(first._replace(expected=number), told)
            row = row._replace(expected=before) if np.isnan(row.expected) else row
        if np.isnan(row.expected):
            row = row._replace(expected=median(self.values[-LAST:]))
        missed = number - median(self.values[-LAST:]) if self.values else 0.0
        surprise = number - row.expected
        self.certificate.add(row, value)
        if self.fallback is not None and row.query is not None:
            self.fallback.tell(row.query, loss=number)
        else:
            self.sizes = [*self.sizes, abs(surprise)][-RECENT:]
        if self.values:
            self.misses = [*self.misses, abs(missed)][-RECENT:]
        self.values = [*self.values, number][-RECENT:]
        self.waiting.append((row, surprise, missed))
        if len(self.waiting) < START and self.virtual.rounds == 0.0:
            return
        for answer in self.waiting:
            self._judge(*answer)
        self.waiting.clear()
        if self.model_plays and self.stretch.cost(self.domain) > FACTOR * self.promise:
            self.model_plays, self.until = False, RETURN * self.promise
            self.switches += 1
            self.fallback = self.fallback or self._fallback()
        elif not self.model_plays and self.promise >= self.until:
            self.model_plays, self.stretch = True, Stretch(self.domain.dim)

    def _judge(self, row: Play, surprise: float, missed: float) -> None:
        """Count an answer for the promise of `Predictive` and, if it is one, for the model."""
        known = self.width < inf
        level = self.width if known else CLIP * median(self.misses)
        self.virtual.learn(missed, level)
        self.virtual_charges += max(abs(missed) - level, 0.0)
        self.promise = max(self.promise, self.virtual.promise + self.virtual_charges)
        if self.model_plays and row.stretch == self.switches:
            level = inf if known else CLIP * median(self.sizes)
            beta = self.virtual.smoothness / self.domain.radius**2
            cost = exploring_price(self.domain.dim, row.trace, beta, self.certificate.lipschitz)
            self.stretch.add(row, min(max(surprise, -level), level), cost)
            self.stretch.charges += max(abs(surprise) - level, 0.0)

    def _fallback(self) -> Predictive:
        """`Predictive`, from where the model was."""
        domain, known = self.domain, self.width < inf
        y = self.centre / max(1.0, domain.gauge(self.centre) / (1.0 - EDGE))
        learner = Predictive(
            domain,
            self.smoothness,
            lipschitz=self.lipschitz,
            loss_range=(self.certificate.low, self.certificate.high) if known else None,
            start=domain.center + domain.outward(y),
            seed=self.seed,
        )
        axes = [np.ravel(learner.geometry.preimage(domain.outward(a))) for a in np.eye(domain.dim)]
        self.metric = np.array(axes) @ np.array(axes).T
        return learner


def retreated(domain: Domain, centre: Array, share: float) -> Array:
    """Return the centre, away from walls that are nearer than this share of the inradius."""
    if domain.gauge(centre) <= 1.0 - share:
        return centre
    weight = (share * domain.inradius / domain.radius) ** 2
    y = solved(domain, -centre / domain.radius, 1.0, weight)
    return y / max(1.0, domain.gauge(y) / (1.0 - share / 2.0))


def within(square: Array, hessian: Array, most: float) -> Array:
    """Return the square of a factor, cut to so much of the barrier's ellipsoid."""
    root = np.linalg.cholesky(hessian)
    sizes, axes = np.linalg.eigh(root.T @ square @ root)
    axes = np.linalg.solve(root.T, axes)
    cut: Array = (axes * np.clip(sizes, 0.0, most)) @ axes.T
    return cut


def inverse(matrix: Array) -> Array:
    """Return the inverse of a positive definite matrix, symmetric to the last digit."""
    root = np.linalg.inv(np.linalg.cholesky(matrix))
    return root.T @ root


def near_least(domain: Domain, linear: Array) -> Array:
    """Return a point where linear.u is nearly least."""
    length = float(np.linalg.norm(linear))
    return solved(domain, linear / length, 0.0, 1e-3) if length > 0.0 else np.zeros(domain.dim)


def solved(domain: Domain, linear: Array, quadratic: float, weight: float) -> Array:
    """Return argmin linear.v + quadratic/2 |v|^2 + weight psi(v), v in units of the radius."""
    scale, geometry = domain.radius, domain.geometry(domain.radius)
    iterate, pull = geometry.start(), geometry.inward(domain.outward(linear))
    geometry.solve(pull, quadratic, weight, iterate)
    return domain.inward(scale * geometry.outward(geometry.vector(iterate)))
