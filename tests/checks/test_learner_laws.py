"""Every learner that the registry finds keeps every law, on one domain of every kind."""

from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import pytest

import dikin
from dikin import registry
from dikin.checks import LearnerFactory, check_learner, laws
from dikin.errors import DomainError, ParameterError
from engine.games import nth
from learners.laws import laws_of

OURS = ("adaptivesmooth", "adaptivelipschitz")


def makers(learner: type[dikin.Learner], domain: dikin.Domain) -> list[LearnerFactory]:
    """Functions of a seed that make the examples of a class."""
    count = sum(1 for _ in learner.examples(domain, 0))
    return [lambda seed, i=i: nth(learner.examples(domain, seed), i) for i in range(count)]


class Case(NamedTuple):
    """A learner class on a domain that it takes."""

    kind: str
    domain: dikin.Domain
    make: LearnerFactory
    example: int

    def __str__(self) -> str:
        return f"{self.kind}{self.example}-{self.domain.kind}"


def cases() -> Iterator[Case]:
    """The first set with closed forms meets all examples of a learner, the rest one, by turns."""
    for kind, learner in registry.FOLDERS["learners"].every().items():
        met = False
        for turn, domain in enumerate(places()):
            try:
                found = makers(learner, domain)
            except DomainError:
                continue  # that it names the domain is tested below
            if meets(kind, domain):
                for i, make in enumerate(found):
                    if i == turn % len(found) or (is_closed(domain) and not met):
                        yield Case(kind, domain, make, i)
                met |= is_closed(domain)


def meets(kind: str, domain: dikin.Domain) -> bool:
    """Whether a learner meets a set."""
    alike = [each.kind for each in places() if is_closed(each) == is_closed(domain)]
    turn = list(registry.FOLDERS["learners"].every()).index(kind) + alike.index(domain.kind)
    every = kind in OURS or domain.kind in ("ball", "box") or domain.dim == 1
    return every or turn % (2 if is_closed(domain) else 2 * len(alike)) == 0


def is_closed(domain: dikin.Domain) -> bool:
    return bool(domain.geometry(domain.radius).compilable)


@cache
def places() -> list[dikin.Domain]:
    """One domain of every kind: the last example is the most awkward."""
    return [
        list(domain_class.examples())[-1]
        for domain_class in registry.FOLDERS["domains"].every().values()
    ]


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_learner_keeps_the_laws(case: Case) -> None:
    for law in laws_of(registry.FOLDERS["learners"].every()[case.kind]).values():
        law(case.make, 0)


@pytest.mark.parametrize("kind", registry.FOLDERS["learners"].every())
def test_learner_without_a_range_keeps_the_laws(kind: str) -> None:
    learner = registry.FOLDERS["learners"].every()[kind]
    cases = {case.domain.kind: case for case in CASES if case.kind == kind}
    case = cases.get("ball") or next(iter(cases.values()))  # on a ball they are quick
    known = case.make(0)

    def make(domain: dikin.Domain, seed: int) -> dikin.Learner:
        return type(known)(domain, **known.arguments() | {"loss_range": None}, seed=seed)

    for law in laws_of(learner).values():
        law(partial(make, case.domain), 0)


def test_a_domain_that_is_not_taken_is_refused_by_name() -> None:
    taken = {(case.kind, case.domain.kind) for case in CASES}
    for kind, learner in registry.FOLDERS["learners"].every().items():
        assert any(kind == taker for taker, _ in taken), f"{kind} takes no domain"
        for domain in places():
            if (kind, domain.kind) not in taken and meets(kind, domain):
                with pytest.raises(DomainError, match=type(domain).__name__):
                    makers(learner, domain)


def test_check_learner_names_what_held() -> None:
    def make(domain: dikin.Domain, seed: int) -> dikin.Learner:
        return dikin.AdaptiveSmooth(domain, 1.0, seed=seed)

    held = check_learner(make, dikin.Ball(1), seed=3)
    assert held == list(laws("dikin.checks.learner"))
    assert check_learner(dikin.AdaptiveSmooth, dikin.Ball(1)) == held
    with pytest.raises(ParameterError, match="needs a learner"):
        check_learner(dikin.Ball, dikin.Ball(1))  # type: ignore[arg-type]
