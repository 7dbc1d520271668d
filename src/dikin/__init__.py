"""dikin: bandit convex optimization with barriers.

One number back per decision, any convex domain, curvature that changes every round, and a bound you
can print.

Every domain, learner, environment and parameter kind is also in the package of its kind:
`dikin.Ball` and `dikin.domains.Ball` are the same class. They are registered as a class of your own
is, by `register`.
"""

from __future__ import annotations

from dikin import checks, curvature, domains, environments, errors, learners, theory  # noqa: F401
from dikin.checks import check_domain, check_environment, check_learner
from dikin.domains import *  # noqa: F403
from dikin.domains.base import Domain
from dikin.engine.play import Run, play
from dikin.engine.replicate import replicate
from dikin.environments import *  # noqa: F403
from dikin.environments.base import Environment
from dikin.environments.patterns import Constant, Decaying, FlatFirst, FlatLast
from dikin.errors import DikinError
from dikin.learners import *  # noqa: F403
from dikin.learners.base import Learner
from dikin.loading import load, restore
from dikin.open_queries import Query
from dikin.registry import register
from dikin.studies.study import Study
from dikin.tuning import parameters as parameter_kinds
from dikin.tuning.circumstances import Cycle
from dikin.tuning.parameters import *  # noqa: F403
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner

__version__ = "0.2.0"

__all__ = [
    "Constant",
    "Cycle",
    "Decaying",
    "DikinError",
    "Domain",
    "Environment",
    "FlatFirst",
    "FlatLast",
    "Learner",
    "ParameterKind",
    "Query",
    "Run",
    "Study",
    "Trial",
    "Tuner",
    "check_domain",
    "check_environment",
    "check_learner",
    "load",
    "play",
    "register",
    "replicate",
    "restore",
]
__all__ += domains.__all__
__all__ += environments.__all__
__all__ += learners.__all__
__all__ += parameter_kinds.__all__

for _package in (domains, environments, learners, parameter_kinds):
    for _name in _package.__all__:
        register(getattr(_package, _name))
