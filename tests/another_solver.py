"""A convex solver that knows none of our formulas: Clarabel, through cvxpy."""

import warnings
from typing import Any

import cvxpy as cp


def least_value(problem: cp.Problem, **settings: Any) -> float:
    """Return the least value found. A test decides whether a warning of its accuracy matters."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        return float(problem.solve(solver=cp.CLARABEL, **settings))
