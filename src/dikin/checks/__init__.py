"""The laws of every domain, learner and environment: one function, one statement.

`check_domain`, `check_learner` and `check_environment` run all that apply. A law is a function
called `check_*` in one of the modules here; it is found by its name, which says what it states. Its
failure names the law and says what was done, what the result was and what is required.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial, wraps
from itertools import islice
from typing import Any

from dikin.domains.base import Domain
from dikin.environments.base import Environment
from dikin.errors import CheckFailedError, ParameterError
from dikin.learners.barrier_ftrl import BarrierFTRL
from dikin.learners.base import Learner
from dikin.learners.descent import Descent
from dikin.rng import stream

Law = Callable[..., None]
LearnerFactory = Callable[[int], Learner]
"""A fresh learner from a seed."""


def laws(*modules: str) -> dict[str, Law]:
    """The laws in modules of this package, by name, in the order in which they are written.

    Parameters
    ----------
    *modules : str
        Names of modules in `dikin.checks`.

    Returns
    -------
    dict of str to callable
        The laws.
    """
    laws: dict[str, Law] = {}
    for name in modules:
        module = importlib.import_module(f"dikin.checks.{name}")
        laws |= {
            key: _named_in_failures(value)
            for key, value in vars(module).items()
            if key.startswith("check_") and value.__module__ == module.__name__
        }
    return laws


def _named_in_failures(law: Law) -> Law:
    """The law, with its name as words at the beginning of a failure."""
    words = law.__name__.removeprefix("check_").replace("_", " ")

    @wraps(law)
    def named(*arguments: Any) -> None:
        try:
            law(*arguments)
        except CheckFailedError as failure:
            raise CheckFailedError(f'the law "{words}" is broken by {failure}') from None

    return named


def domain_laws() -> dict[str, Law]:
    """The laws of a domain: functions of the domain and a generator."""
    return laws("domain", "bounds", "geometry")


def learner_laws(learner: type[Learner]) -> dict[str, Law]:
    """The laws of a learner: functions of what makes one from a seed, and a seed.

    Parameters
    ----------
    learner : type of Learner
        Its class decides which laws apply.

    Returns
    -------
    dict of str to callable
        The laws, by name.
    """
    machine = ("exploration",) if issubclass(learner, BarrierFTRL | Descent) else ()
    barrier = ("barrier_ftrl",) if issubclass(learner, BarrierFTRL) else ()
    unknown = "measured" if learner.measures_range else "unknown_range"
    return laws("learner", unknown, *machine, *barrier)


def environment_laws() -> dict[str, Law]:
    """The laws of an environment: functions of what sets the game up again, and a generator."""
    return laws("environment")


def check_domain(domain: Domain, seed: int = 0) -> list[str]:
    """Check every law of a domain.

    Parameters
    ----------
    domain : Domain
        The domain to check.
    seed : int, default 0
        Whole number that the random points come from.

    Returns
    -------
    list of str
        The names of the laws, all of which held.

    Raises
    ------
    CheckFailedError
        At the first law that does not hold: its name, the result and the requirement.
    ParameterError
        If `domain` is not a domain.

    Examples
    --------
    >>> from dikin import Ball
    >>> "check_dikin_ellipsoid_is_inside" in check_domain(Ball(2))
    True
    """
    if not isinstance(domain, Domain):
        raise ParameterError(f"check_domain needs a domain such as Ball(2), got {domain!r}")
    laws = domain_laws()
    for name, law in laws.items():
        law(domain, stream(seed, name))
    return list(laws)


def check_learner(
    learner: type[Learner] | Callable[[Domain, int], Learner], domain: Domain, seed: int = 0
) -> list[str]:
    """Check every law of a learner on a domain.

    Parameters
    ----------
    learner : type of Learner or callable
        A class, of which all `examples` are checked, or a function of a domain and a seed that
        makes one.
    domain : Domain
        The domain to play on.
    seed : int, default 0
        Whole number that all randomness comes from.

    Returns
    -------
    list of str
        The names of the laws, all of which held.

    Raises
    ------
    CheckFailedError
        At the first law that does not hold: its name, the result and the requirement.
    ParameterError
        If an argument is not what is written here, or the class has no examples.

    Examples
    --------
    >>> from dikin import AdaptiveSmooth, Ball
    >>> held = check_learner(lambda domain, seed: AdaptiveSmooth(domain, 1.0, seed=seed), Ball(2))
    >>> "check_points_stay_inside" in held
    True
    """
    names: dict[str, None] = {}
    for make in factories(learner, domain):
        for name, law in learner_laws(type(make(seed))).items():
            law(make, seed)
            names[name] = None
    return list(names)


def factories(learner: Any, domain: Domain) -> list[LearnerFactory]:
    """Functions that make the learners to be checked, each from a seed.

    Parameters
    ----------
    learner : type of Learner or callable
        A class, of which all `examples` are made, or a function of a domain and a seed.
    domain : Domain
        The domain to play on.

    Returns
    -------
    list of callable
        One function of a seed for each learner.
    """
    return _factories(
        learner, domain, Learner, "check_learner needs a learner such as AdaptiveSmooth"
    )


def check_environment(
    environment: type[Environment] | Callable[[Domain, int], Environment],
    domain: Domain,
    seed: int = 0,
) -> list[str]:
    """Check every law of an environment on a domain.

    Parameters
    ----------
    environment : type of Environment or callable
        A class, of which all `examples` are checked, or a function of a domain and a seed that
        makes one.
    domain : Domain
        The domain to play on.
    seed : int, default 0
        Whole number that all randomness comes from.

    Returns
    -------
    list of str
        The names of the laws, all of which held.

    Raises
    ------
    CheckFailedError
        At the first law that does not hold: its name, the result and the requirement.
    ParameterError
        If an argument is not what is written here, or the class has no examples.

    Examples
    --------
    >>> from dikin import Ball, Linear
    >>> "check_losses_keep_the_declared_range" in check_environment(Linear, Ball(2))
    True
    """
    requirement = "check_environment needs an environment such as Ridge"
    for make in _factories(environment, domain, Environment, requirement):
        for name, law in environment_laws().items():
            law(partial(make, seed), stream(seed, name))
    return list(environment_laws())


def _factories(
    thing: Any, domain: Domain, base: type[Any], requirement: str
) -> list[Callable[[int], Any]]:
    """Functions that make the objects to be checked, each from a seed."""
    if not isinstance(domain, Domain):
        raise ParameterError(f"the checks need a domain such as Ball(2) to play on, got {domain!r}")
    if isinstance(thing, type):
        if not issubclass(thing, base):
            raise ParameterError(f"{requirement}, got {thing}")
        return _examples(thing, domain)
    if not callable(thing) or not isinstance(thing(domain, 0), base):
        raise ParameterError(f"{requirement}, or a function of a domain and a seed; got {thing!r}")
    return [partial(thing, domain)]


def _examples(cls: Any, domain: Domain) -> list[Callable[[int], Any]]:
    """Functions that make the examples of a class, each from a seed."""

    def nth(i: int) -> Callable[[int], Any]:
        return lambda seed: next(islice(cls.examples(domain, seed), i, None))

    count = sum(1 for _ in cls.examples(domain, 0))
    if not count:
        raise ParameterError(f"{cls.__name__}.examples gives none on {domain}: nothing to check")
    return [nth(i) for i in range(count)]
