"""Domains whose working form has one thing wrong, each beside the law that must notice."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from checks.mutants import Wrong, ball, box, by_law, wrong
from dikin.domains.ball import BallGeometry
from dikin.domains.box import BoxGeometry


def off(words: str, method: str, change: Callable[..., Any], make: Any = box) -> Wrong:
    """A box or a ball with another `method`: `change` gets the true one and its arguments."""
    kind: Any = BoxGeometry if make is box else BallGeometry
    original = getattr(kind, method)

    def changed(self: Any, *arguments: Any) -> Any:
        return change(partial(original, self), *arguments)

    def geometry(domain: Any, scale: float, equal_sides: bool = False) -> Any:
        true = type(domain).geometry(domain, scale)
        return type("Changed", (kind,), {method: changed})(*true)

    return wrong(words, make, geometry=geometry)


def radial(do: Any, linear: Any, iterate: Any) -> None:
    """Shrink a vector towards the centre instead of finding the nearest point."""
    do(linear / max(1.0, float(np.abs(linear / do.args[0].sides).max())), iterate)


LINE = np.linspace(1, 2, 3)
TOP = np.array([[1e-12], [0.0], [0.0]])


def squared(do: Any, *arguments: Any) -> Any:
    found = do(*arguments)
    arguments[-1][0] **= 2
    return found


GEOMETRY: dict[str, list[Wrong]] = {
    "check_geometry_keeps_lengths_from_the_center": [
        off("not at zero", "start", lambda do: do() + TOP),
        off("no isometry", "write_point", lambda do, u, *rest: do(1.001 * u, *rest)),
        off("the other way", "inward", lambda do, displacement: -displacement),
    ],
    "check_solve_is_stationary": [
        off("the weight is wrong", "solve", lambda do, g, q, w, y: do(g, q, 1.0001 * w, y))
    ],
    "check_barrier_of_an_iterate_is_the_oracle": [
        off("a hair too much", "barrier", lambda do, y: do(y) + 1e-8)
    ],
    "check_project_finds_the_nearest_point": [
        off("radially", "project", radial),
        off("too far inside", "project", lambda do, g, y: do.args[0].solve(g, 1.0, 1e-9, y)),
    ],
    "check_point_lies_on_the_ellipsoid": [
        off("too wide", "explore", lambda do, y, k, shift, *rest: do(y, k, 0.999 * shift, *rest)),
        off("a root is missing", "explore", squared),
        off(
            "a thousandth is missing",
            "explore",
            lambda do, *a: (do(*a)[0], 0.999 * do(*a)[1], *do(*a)[2:]),
            ball,
        ),
    ],
    "check_linear_update_is_the_hessian_times_the_step": [
        off("the other root", "linear_update", lambda do, y, m, *rest: do(y, m[[1, 0]], *rest)),
        off("another g.y", "linear_update", lambda do, *a: np.add(do(*a), (1e-6, 0.0))),
    ],
    "check_exploration_is_uniform": [
        off("a side is preferred", "explore", lambda do, y, k, a, s, m: do(y, k, a, np.abs(s), m))
    ],
}
GEOMETRY_MUTANTS = by_law(GEOMETRY)
