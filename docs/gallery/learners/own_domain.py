"""
A domain of your own, and Dikin's ellipsoids
============================================

Any bounded convex set will do if you can write down a self-concordant barrier. Here it is the piece
of the plane above a parabola and below a line, x² ≤ y ≤ 1, with the barrier
-ln(y - x²) - ln(1 - y), whose parameter is 2.
"""

import numpy as np
from numpy.typing import NDArray

import dikin
from dikin.plotting.publication import COLOURS, pyplot
from dikin.plotting.style import GREY

Point = NDArray[np.float64]


def slacks(p: Point) -> tuple[float, float]:
    return p[1] - p[0] ** 2, 1 - p[1]


def value(p: Point) -> float:
    below, above = slacks(p)
    return float(-np.log(below) - np.log(above)) if below > 0 and above > 0 else np.inf


def gradient(p: Point) -> Point:
    below, above = slacks(p)
    return np.array([2 * p[0] / below, -1 / below + 1 / above])


def hessian(p: Point) -> Point:
    below, above = slacks(p)
    slope = np.array([-2 * p[0], 1.0]) / below
    return np.outer(slope, slope) + np.diag([2 / below, above**-2])


bowl = dikin.FromBarrier(value, gradient, hessian, nu=2, interior=[0, 0.5], radius=1.3)

# %%
# A mistake in a derivative would void everything. `dikin.check_domain` tries the laws of a barrier
# at many points and says which one is broken. It finds mistakes; it is no proof.

print(len(dikin.check_domain(bowl)), "laws hold")

# %%
# The learner explores on the boundary of an ellipsoid around its centre, which lies inside Dikin's
# ellipsoid: {x : (x - y)' H(y) (x - y) ≤ 1}, H the Hessian of the barrier. That one lies in the
# set, wherever y is: so no point that is played can be outside. It is drawn around some points.

learner = dikin.Predictive(bowl, seed=3)
best = np.array([0.5, 0.45])
centres, played = [learner.center], []
for _ in range(1500):
    query = learner.ask()
    played.append(query.point)
    learner.tell(query, float(np.sum((query.point - best) ** 2)))
    centres.append(learner.center)

circle = np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 2 * np.pi, 200)])
x = np.linspace(-1, 1, 200)
figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
axes.fill_between(x, x**2, 1, color=COLOURS[5], alpha=0.15, lw=0)
axes.plot([*x, x[0]], [*(x**2), 1], color=COLOURS[0], lw=1.5)
for y in ((0.0, 0.6), (-0.6, 0.62), (-0.35, 0.25), (0.72, 0.85), (-0.2, 0.93), (0.0, 0.12)):
    factor = np.linalg.cholesky(np.linalg.inv(hessian(np.array(y))))
    axes.fill(*(y + circle @ factor.T).T, color=COLOURS[4], alpha=0.18, lw=0)
    axes.plot(*(y + circle @ factor.T).T, color=COLOURS[4], lw=1.2)
    axes.plot(*y, ".", color=COLOURS[4], ms=6)
axes.scatter(*np.transpose(played), s=5, color=GREY, alpha=0.35, lw=0, zorder=3)
axes.plot(*np.transpose(centres), color=COLOURS[1], lw=1.2, zorder=4)
axes.plot(*best, "*", color="black", ms=12, mec="white", zorder=5)
axes.set(xlabel="x", ylabel="y", xlim=(-1.05, 1.05), ylim=(-0.03, 1.03))
