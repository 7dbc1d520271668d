"""The laws of every domain, learner and environment: functions `check_*`, whose names are the laws.

`check_domain`, `check_learner` and `check_environment` run all that apply.
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
from dikin.learners.base import Learner
from dikin.rng import stream

Law = Callable[..., None]
LearnerFactory = Callable[[int], Learner]
"""A fresh learner from a seed."""


def laws(module: str) -> dict[str, Law]:
    """Return the laws in a module, in the order in which they are written.

    Parameters
    ----------
    module : str
        Name of the module, such as "dikin.checks.domain".

    Returns
    -------
    dict of str to callable
        The laws, by name.
    """
    return {
        name: _named_in_failures(law)
        for name, law in vars(importlib.import_module(module)).items()
        if name.startswith("check_") and law.__module__ == module
    }


def _named_in_failures(law: Law) -> Law:
    """Return the law, with its name as words at the beginning of a failure."""
    words = law.__name__.removeprefix("check_").replace("_", " ")

    @wraps(law)
    def named(*arguments: Any) -> None:
        try:
            law(*arguments)
        except CheckFailedError as failure:
            raise CheckFailedError(f'the law "{words}" is broken by {failure}') from None

    return named


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
    every = laws("dikin.checks.domain")
    for name, law in every.items():
        law(domain, stream(seed, name))
    return list(every)


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
        If an argument is of another type, or the class lacks examples.

    Examples
    --------
    >>> from dikin import AdaptiveSmooth, Ball
    >>> held = check_learner(lambda domain, seed: AdaptiveSmooth(domain, 1.0, seed=seed), Ball(2))
    >>> "check_points_stay_inside" in held
    True
    """
    requirement = "check_learner needs a learner such as AdaptiveSmooth"
    every = laws("dikin.checks.learner")
    for make in _factories(learner, domain, Learner, requirement):
        for law in every.values():
            law(make, seed)
    return list(every)


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
        If an argument is of another type, or the class lacks examples.

    Examples
    --------
    >>> from dikin import Ball, Linear
    >>> "check_losses_keep_the_declared_range" in check_environment(Linear, Ball(2))
    True
    """
    requirement = "check_environment needs an environment such as Ridge"
    every = laws("dikin.checks.environment")
    for make in _factories(environment, domain, Environment, requirement):
        for name, law in every.items():
            law(partial(make, seed), stream(seed, name))
    return list(every)


def _factories(
    thing: Any, domain: Domain, base: type[Any], requirement: str
) -> list[Callable[[int], Any]]:
    """Return functions that make the objects to be checked, each from a seed."""
    if not isinstance(domain, Domain):
        raise ParameterError(f"the checks need a domain such as Ball(2) to play on, got {domain!r}")
    if not isinstance(thing, type):
        if callable(thing) and isinstance(thing(domain, 0), base):
            return [partial(thing, domain)]
        requirement += ", or a function of a domain and a seed"
        raise ParameterError(f"{requirement}; got {thing!r}")
    if not issubclass(thing, base):
        raise ParameterError(f"{requirement}, got {thing}")
    examples: Any = thing.examples  # type: ignore[attr-defined]
    count = sum(1 for _ in examples(domain, 0))
    if not count:
        raise ParameterError(f"{thing.__name__}.examples gives none on {domain}: nothing to check")

    def nth(i: int, seed: int) -> Any:
        return next(islice(examples(domain, seed), i, None))

    return [partial(nth, i) for i in range(count)]
