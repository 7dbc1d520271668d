"""dikin: bandit convex optimization with barriers.

One number back per decision, any convex domain, curvature that changes every round, and a bound you
can print.

Every domain, learner, environment and parameter kind is found by its folder and stands here, and in
the package of its folder, under its name: `dikin.Ball` and `dikin.domains.Ball` are
`dikin.domains.ball.Ball`. Type checkers read the same names from `__init__.pyi` (`make stub`). A
class of your own comes in by `dikin.register`.
"""

from __future__ import annotations

from dikin import registry as _registry
from dikin.checks import check_domain, check_environment, check_learner
from dikin.domains.base import Domain
from dikin.engine.play import Run, play
from dikin.engine.replicate import replicate
from dikin.environments.base import Environment
from dikin.environments.patterns import Constant, Decaying, FlatFirst, FlatLast
from dikin.errors import DikinError
from dikin.learners.base import Learner
from dikin.loading import load, restore
from dikin.open_queries import Query
from dikin.registry import register
from dikin.studies.study import Study
from dikin.tuning.minimize import maximize, minimize
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.interval import Interval
from dikin.tuning.result import Result
from dikin.tuning.tuner import Trial, Tuner

__version__ = "0.1.0"

_found = _registry.fill()
globals().update(_found)


__all__ = [
    "Constant",
    "Decaying",
    "DikinError",
    "Domain",
    "Environment",
    "FlatFirst",
    "FlatLast",
    "Interval",
    "Learner",
    "ParameterKind",
    "Query",
    "Result",
    "Run",
    "Study",
    "Trial",
    "Tuner",
    "check_domain",
    "check_environment",
    "check_learner",
    "load",
    "maximize",
    "minimize",
    "play",
    "register",
    "replicate",
    "restore",
    *sorted(_found),
]
