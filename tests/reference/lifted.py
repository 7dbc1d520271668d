"""The paper's two algorithm boxes in R^{d+1}, line by line: alg:lift-smooth and alg:lift-Lipschitz.

Written for reading, not for speed: every sum is kept as a sum over rounds, every square root of a
matrix is the symmetric one, and the indices are the paper's (rounds start at 1, lambda at 0).
Everything is in the paper's units: the origin is the analytic centre, |x| <= 1 and |f| <= 1.

The class draws nothing. It replays points that somebody else played: line 3 of the box is read
backwards to find u_t, and u_t has to lie where line 2 would have drawn it.

Comments "line 1" ... "line 7" are the numbered lines of the boxes; "Define" and "Initialize" are
the unnumbered ones above them. The two boxes differ in rho, lambda_0, lambda_t (line 4) and eta
(line 6) only: that is what a Schedule holds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import cbrt, log, sqrt

import numpy as np
from scipy.optimize import brentq

from reference.barriers import Array, Barrier, minimum

SPHERE_TOLERANCE = 1e-9


class OffTheSphereError(AssertionError):
    """A replayed point that line 2 and line 3 of the box could not have produced."""


@dataclass(frozen=True)
class PaperSmooth:
    """alg:lift-smooth with eqn:oracle-tuning-strongly-main.

    `scale` is K in Psi = K (psi(x/b) - 2 nu ln b), `lambda_target` the right-hand side of the
    equation of lambda_t at sigma_{1:t} + lambda_{0:t}; eta_t is given sigma_{1:t-1} +
    lambda_{0:t-1}.
    """

    dim: int
    nu: float
    beta: float
    horizon: int
    scale: float = 400.0  # Define Psi

    @property
    def rho(self) -> float:
        return 512 * self.nu * (1 + 32 * sqrt(self.nu)) ** 2  # Define rho

    @property
    def lambda_0(self) -> float:  # Initialize lambda_0
        return max((self.beta + 1) * self.rho / self.nu, self.dim**2 * (self.beta + 1))

    def lambda_target(self, curvature: float) -> float:  # line 4
        return self.dim * sqrt(self.beta + 1) / sqrt(curvature)

    def eta(self, t: int, curvature: float) -> float:  # Initialize eta_1, line 6
        floor = self.nu / (self.horizon * log(self.horizon))
        return 1 / (2 * self.dim) * sqrt((self.beta + 1) / curvature + floor)


@dataclass(frozen=True)
class PaperLipschitz:
    """alg:lift-Lipschitz with eqn:oracle-tuning-Lipschitz-main."""

    dim: int
    nu: float
    lipschitz: float
    horizon: int
    scale: float = 400.0  # Define Psi

    @property
    def rho(self) -> float:  # Define rho'
        d, nu, lip = self.dim, self.nu, self.lipschitz
        inner = 16 * sqrt(nu) * cbrt(d) * cbrt(4 * lip + 1) + cbrt(lip + 1) ** 2
        return 2**16 * inner**3 / d

    @property
    def lambda_0(self) -> float:  # Initialize lambda_0
        return max(self.rho, self.dim**2 * (self.lipschitz + 1) ** 2)

    def lambda_target(self, curvature: float) -> float:  # line 4
        return cbrt(self.dim) ** 2 * cbrt(self.lipschitz + 1) ** 2 / cbrt(curvature)

    def eta(self, t: int, curvature: float) -> float:  # Initialize eta_1, line 6
        lead = cbrt(self.lipschitz + 1) ** 2 / cbrt(self.dim) ** 4
        return lead * cbrt(1 / curvature + 1 / self.horizon)


@dataclass(frozen=True)
class SharpSmooth(PaperSmooth):
    """alg:lift-smooth with K = 1, lambda_0 = d^2 (beta+1), the cap 1/(3d) and the floor nu ln T/T.

    Without a horizon the floor of eta_t is nu ln t/t, from t = 3 on; before, its value at t = 3.
    """

    horizon: int | None  # type: ignore[assignment]
    scale: float = 1.0
    cap: float = 1 / 3

    @property
    def lambda_0(self) -> float:
        return self.dim**2 * (self.beta + 1)

    def eta(self, t: int, curvature: float) -> float:
        clock = max(t, 3) if self.horizon is None else self.horizon
        floor = self.nu * log(clock) / clock
        rate = 1 / (2 * self.dim) * sqrt((self.beta + 1) / curvature + floor)
        return min(self.cap / self.dim, rate)


@dataclass(frozen=True)
class SharpLipschitz(PaperLipschitz):
    """alg:lift-Lipschitz with K = 1, lambda_0 = d^2 (L+1)^2, the cap 1/(3d), and no 1/T in eta."""

    scale: float = 1.0
    cap: float = 1 / 3

    @property
    def lambda_0(self) -> float:
        return self.dim**2 * (self.lipschitz + 1) ** 2

    def eta(self, t: int, curvature: float) -> float:
        rate = cbrt(self.lipschitz + 1) ** 2 / cbrt(self.dim) ** 4 / cbrt(curvature)
        return min(self.cap / self.dim, rate)


@dataclass(frozen=True)
class NormalBarrier:
    """Psi(x, b) = K psi(x/b) - c ln b on the conic hull. The boxes have c = 2 K nu."""

    psi: Barrier
    scale: float
    log_coefficient: float

    def gradient(self, point: Array) -> Array:
        b = float(point[-1])
        z = point[:-1] / b
        slope = self.scale * self.psi.gradient(z)
        return np.append(slope, -(slope @ z + self.log_coefficient)) / b

    def hessian(self, point: Array) -> Array:
        b = float(point[-1])
        z = point[:-1] / b
        slope = self.scale * self.psi.gradient(z)
        second = self.scale * self.psi.hessian(z)
        out = np.empty((point.size, point.size))
        out[:-1, :-1] = second
        out[:-1, -1] = out[-1, :-1] = -(second @ z + slope)
        out[-1, -1] = z @ second @ z + 2 * slope @ z + self.log_coefficient
        return out / b**2


def lift(x: Array) -> Array:
    """(x, 1): "Define: lifted feasible set"."""
    return np.append(x, 1.0)


def symmetric_roots(matrix: Array) -> tuple[Array, Array]:
    """The symmetric M^{1/2} and M^{-1/2} of a positive definite M, by eigendecomposition."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    if eigenvalues[0] <= 0:
        raise np.linalg.LinAlgError(f"not positive definite: eigenvalue {eigenvalues[0]}")
    roots = np.sqrt(eigenvalues)
    return (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T


def argmin_on_lifted_domain(
    gradient: Callable[[Array], Array], hessian: Callable[[Array], Array], start: Array, eta: float
) -> Array:
    """The minimum over {(x, 1)}: b stays 1, so only the first d coordinates move."""
    return lift(
        minimum(
            lambda x: eta * gradient(lift(x))[:-1],
            lambda x: eta * hessian(lift(x))[:-1, :-1],
            start[:-1],
        )
    )


Schedule = PaperSmooth | PaperLipschitz


class Lifted:
    """One run of a box. `replay` takes a played point and its answer; `y` is the next centre."""

    def __init__(self, psi: Barrier, schedule: Schedule) -> None:
        self.dim = psi.dim
        self.schedule = schedule
        self.psi = NormalBarrier(psi, schedule.scale, schedule.scale * 2 * psi.nu)  # Define Psi
        self.t = 1
        self.g: dict[int, Array] = {}
        self.sigma: dict[int, float] = {}
        self.lam = {0: schedule.lambda_0}  # Initialize lambda_0
        self.eta = {1: schedule.eta(1, self.curvature(0))}  # Initialize eta_1
        self.centers = {
            1: argmin_on_lifted_domain(  # Initialize y_1 = argmin Psi
                self.psi.gradient, self.psi.hessian, lift(np.zeros(psi.dim)), 1.0
            )
        }

    @property
    def y(self) -> Array:
        """y_t of the coming round, without its last coordinate 1."""
        return self.centers[self.t][:-1].copy()

    def curvature(self, t: int) -> float:
        """sigma_{1:t} + lambda_{0:t}."""
        sigmas = sum(self.sigma[s] for s in range(1, t + 1))
        lambdas = self.lam[0] + sum(self.lam[s] for s in range(1, t + 1))
        return sigmas + lambdas

    def hessian(self, t: int) -> Array:
        """H_t = hess Psi(y_t) + eta_t (sigma_{1:t-1} + lambda_{0:t-1}) I."""
        identity = np.eye(self.dim + 1)
        return self.psi.hessian(self.centers[t]) + self.eta[t] * self.curvature(t - 1) * identity

    def regularization(self, t: int) -> float:
        """The root of lambda = lambda_target(sigma_{1:t} + lambda_{0:t-1} + lambda) in (0, 1)."""
        known = self.curvature(t - 1) + self.sigma[t]

        def excess(lam: float) -> float:
            return lam - self.schedule.lambda_target(known + lam)

        return float(brentq(excess, 0.0, 1.0, xtol=1e-15, rtol=1e-15, maxiter=200))

    def estimator(self, t: int, x_t: Array, f_t: float, root: Array, u_t: Array) -> Array:
        """g_t = d (f_t(x_t) + lambda_t/2 |x_t|^2) H_t^{1/2} u_t, with x_t in R^d."""
        return self.dim * (f_t + self.lam[t] / 2 * float(x_t @ x_t)) * (root @ u_t)

    def objective_gradient(self, t: int, point: Array) -> Array:
        total = self.lam[0] * point
        for s in range(1, t + 1):
            total = total + self.g[s] + (self.sigma[s] + self.lam[s]) * (point - self.centers[s])
        return total + self.psi.gradient(point) / self.eta[t + 1]

    def objective_hessian(self, t: int, point: Array) -> Array:
        return self.curvature(t) * np.eye(self.dim + 1) + self.psi.hessian(point) / self.eta[t + 1]

    def replay(self, x_t: Array, f_t: float, sigma_t: float) -> None:
        """Round t of the box, for a point x_t that was played and answered with f_t, sigma_t."""
        t = self.t
        root, inverse_root = symmetric_roots(self.hessian(t))  # line 1
        u_t = root @ (lift(x_t) - self.centers[t])  # line 3: x_t = y_t + H_t^{-1/2} u_t, backwards
        normal = inverse_root[:, -1]  # H_t^{-1/2} e_{d+1}
        length = float(np.linalg.norm(u_t))  # line 2: u_t is a unit vector ...
        if not abs(length - 1) <= SPHERE_TOLERANCE:
            raise OffTheSphereError(f"round {t}: |u_t| = {length}, wanted 1")
        slant = float(u_t @ normal / np.linalg.norm(normal))  # line 2: ... orthogonal to normal
        if not abs(slant) <= SPHERE_TOLERANCE:
            raise OffTheSphereError(f"round {t}: cosine of u_t and H^(-1/2) e_(d+1) is {slant}")
        self.sigma[t] = sigma_t  # line 3: observe
        self.lam[t] = self.regularization(t)  # line 4
        self.g[t] = self.estimator(t, x_t, f_t, root, u_t)  # line 5
        self.eta[t + 1] = self.schedule.eta(t + 1, self.curvature(t))  # line 6
        self.centers[t + 1] = argmin_on_lifted_domain(  # line 7
            partial(self.objective_gradient, t),
            partial(self.objective_hessian, t),
            self.centers[t],
            self.eta[t + 1],
        )
        self.t = t + 1
