"""Section 15.1 of docs/mathematics.md to the letter: smoothness or slope told round by round.

Everything is in the paper's units, in dense matrices, with every term of the objective kept and
minimised anew by Newton's method. A reference is fed the shares, losses and played points of
somebody else's game; its centres, rates and certificate are its own.

    m_t = max{(1 + s_1 + ... + s_{t-1})/t, t^(-1/2)}
    p_t = lambda_0^(1/k)/2 (m_t^((k-1)/k) + s_t m_t^(-1/k)),      lambda_0 = d^2 Q^(k-1)
    lambda_t = min{1, lambda},  lambda^k (S_{t-1} + sigma_t + lambda) = p_t^k
"""

from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np
from scipy.optimize import brentq

from reference.barriers import Array
from reference.lifted import Barrier


@dataclass(frozen=True)
class Model:
    """l_t, with the price of its round."""

    g: Array
    sigma: float
    lam: float
    y: Array
    price: float

    def at(self, x: Array) -> float:
        away = x - self.y
        return float(self.g @ x) + (self.sigma + self.lam) / 2 * float(away @ away)


@dataclass
class ToldConstants:
    """A run on a set that is symmetric around its centre: `growth` is that of Theorem 5."""

    psi: Barrier
    k: int
    constant: float
    """beta or L."""
    shares: list[float] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)
    lowered: list[tuple[float, Array]] = field(default_factory=list)
    """w - w' and the centre, each time that the barrier's weight was lowered."""
    center: Array = field(init=False)
    eta: float = field(init=False)

    def __post_init__(self) -> None:
        self.center = np.zeros(self.psi.dim)
        self.eta = self.wanted()

    @property
    def first(self) -> float:
        """lambda_0."""
        return float(self.psi.dim**2 * (self.constant + 1) ** (self.k - 1))

    @property
    def S(self) -> float:  # noqa: N802 - the paper's letter
        return self.first + sum(each.sigma + each.lam for each in self.models)

    def mean(self) -> float:
        """m_t of the next round."""
        t = len(self.shares) + 1
        return max((1 + sum(self.shares)) / t, t**-0.5)

    def wanted(self) -> float:
        """eta deg of the next round."""
        d, q, t = self.psi.dim, self.mean() * (self.constant + 1), max(len(self.shares) + 1, 3)
        if self.k == 2:
            rate = sqrt(q / self.S + self.psi.nu * log(t) / t) / (2 * d)
        else:
            rate = q ** (2 / 3) * d ** (-4 / 3) * self.S ** (-1 / 3)
        return min(rate, 1 / (3 * d))

    def cost(self, share: float) -> float:
        """p_t."""
        m, k = self.mean(), self.k
        return self.first ** (1 / k) / 2 * (m ** ((k - 1) / k) + share * m ** (-1 / k))

    def regularisation(self, share: float, sigma: float) -> float:
        before, target = self.S + sigma, self.cost(share) ** self.k
        root = brentq(
            lambda lam: lam**self.k * (before + lam) - target, 0, 1 + target, xtol=1e-15, rtol=1e-14
        )
        return min(1.0, float(root))

    def price(self, share: float, sigma: float, tau: float) -> float:
        d, own = self.psi.dim, share * self.constant
        if self.k == 2:
            return own / 2 * tau / d + (own - sigma) / 2 * tau / (d + 2)
        return own * sqrt(tau / d) - sigma / 2 * tau / (d + 2)

    def metric(self) -> Array:
        return self.psi.hessian(self.center) + self.eta * self.S * np.eye(self.psi.dim)

    def tell(self, x: Array, loss: float, sigma: float, share: float) -> None:
        H, lam = self.metric(), self.regularisation(share, sigma)
        g = self.psi.dim * (loss + lam / 2 * float(x @ x)) * (H @ (x - self.center))
        tau = float(np.trace(np.linalg.inv(H)))
        self.models.append(Model(g, sigma, lam, self.center, self.price(share, sigma, tau)))
        self.shares.append(share)
        wanted = self.wanted()
        self.eta = min(self.eta, wanted)
        self.center = self.minimiser()
        if wanted >= 2 * self.eta:
            self.lowered.append((1 / self.eta - 1 / wanted, self.center))
            self.eta = wanted

    def tilt(self) -> Array:
        """The slope that lowering left."""
        parts = [weight * self.psi.gradient(y) for weight, y in self.lowered]
        return np.sum(parts, axis=0) if parts else np.zeros(self.psi.dim)

    def minimiser(self) -> Array:
        x, tilt = self.center.copy(), self.tilt()
        for _ in range(200):
            slope = sum(m.g + (m.sigma + m.lam) * (x - m.y) for m in self.models)
            slope = slope + self.first * x + self.psi.gradient(x) / self.eta + tilt
            hessian = self.psi.hessian(x) / self.eta + self.S * np.eye(x.size)
            step = np.linalg.solve(hessian, slope)
            decrement = sqrt(self.eta * float(slope @ step))
            x = x - step / (1 + decrement if decrement > 0.25 else 1)
            if decrement < 1e-13:
                break
        return x

    def objective(self, x: Array) -> float:
        """F_{T+1}(x)."""
        rise = self.psi.value(x) - self.psi.value(0 * x)
        total = sum(m.at(x) for m in self.models) + self.first / 2 * float(x @ x)
        weight = 1 / self.eta + sum(each for each, _ in self.lowered)
        return total + weight * rise - self.divergences(x)

    def divergences(self, x: Array) -> float:
        """What was taken off when the barrier was lowered."""
        psi = self.psi
        return sum(
            weight * (psi.value(x) - psi.value(y) - float(psi.gradient(y) @ (x - y)))
            for weight, y in self.lowered
        )

    def weight_of_growth(self) -> float:
        return 1 / self.eta + sum(each for each, _ in self.lowered)

    def certificate(self, share: float, growth: float) -> float:
        """C_T of Theorem 5 at e = share, for a symmetric set."""
        held = self.first + sum(m.lam for m in self.models)
        total = share * len(self.models) + self.weight_of_growth() * growth
        total += (1 - share) ** 2 / 2 * held
        for m in self.models:
            total += m.at(m.y) + m.price - m.lam / 2 * float(m.y @ m.y)
        return total - self.objective(self.center)
