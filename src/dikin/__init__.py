"""dikin: bandit convex optimization with barriers.

One number back per decision, any convex domain, curvature that changes every round, and a bound you
can print.

Every domain and learner is found by its folder and stands here under its name: `dikin.Ball` is
`dikin.domains.ball.Ball`. Type checkers read the same names from `__init__.pyi` (`make stub`).
"""

from __future__ import annotations

from typing import Any as _Any

from dikin import registry as _registry
from dikin.checks import check_domain, check_learner
from dikin.domains.base import Domain
from dikin.engine.parallel import replicate
from dikin.engine.play import Run, play
from dikin.environments.base import Environment
from dikin.environments.patterns import Constant, Decaying, FlatFirst, FlatLast
from dikin.errors import DikinError
from dikin.learners.base import Learner, Query
from dikin.loading import load, restore

__version__ = "0.1.0"

_found: dict[str, type] = {}
for _classes in (_registry.domains(), _registry.learners(), _registry.environments()):
    _found |= {cls.__name__: cls for cls in _classes.values()}
globals().update(_found)


def __getattr__(name: str) -> _Any:
    """What is imported when it is first used, as it brings a database library with it."""
    if name == "Study":
        from dikin.studies.study import Study

        return Study
    raise AttributeError(f"module 'dikin' has no attribute {name!r}")


__all__ = [
    "Constant",
    "Decaying",
    "DikinError",
    "Domain",
    "Environment",
    "FlatFirst",
    "FlatLast",
    "Learner",
    "Query",
    "Run",
    "Study",
    "check_domain",
    "check_learner",
    "load",
    "play",
    "replicate",
    "restore",
    *sorted(_found),
]
