"""A convex solver that knows none of our formulas: Clarabel, through cvxpy."""

import warnings
from typing import Any

import cvxpy as cp


def least_value(problem: cp.Problem, **settings: Any) -> float:
    """Return the least value that it finds; the variables then hold the point.

    How near it comes to a tolerance depends on the processor. It warns where it stops short of one,
    and the test, which compares its point or value with ours, decides whether that matters.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        return float(problem.solve(solver=cp.CLARABEL, **settings))
