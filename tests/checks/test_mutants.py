"""Every law can fail: it passes a sound object and catches that object with one thing wrong."""

from collections.abc import Callable
from functools import cache

import pytest

from checks.learner_mutants import LEARNER_MUTANTS, LearnerMutant, disc
from checks.mutants import BARRIER_MUTANTS, DOMAIN_LAWS, DomainMutant
from dikin.domains.base import Domain
from dikin.errors import CheckFailedError
from dikin.learners.adaptive import AdaptiveSmooth
from dikin.rng import stream
from domains.geometry_mutants import GEOMETRY_MUTANTS
from learners.laws import laws_of
from learners.unknown_range_mutants import UNKNOWN_RANGE_MUTANTS

SEEDS = range(3)
DOMAIN_MUTANTS = BARRIER_MUTANTS + GEOMETRY_MUTANTS
ALL_LEARNER_MUTANTS = LEARNER_MUTANTS + UNKNOWN_RANGE_MUTANTS
LEARNER_LAWS = laws_of(AdaptiveSmooth)


def failure(law: str, subject: str) -> str:
    """A failure says which law it is, who broke it, what came and what was wanted."""
    words = law.removeprefix("check_").replace("_", " ")
    return f'(?s)^the law "{words}" is broken by {subject}: .+, wanted .+'


def test_every_law_has_a_mutant() -> None:
    assert {mutant.law for mutant in DOMAIN_MUTANTS} == set(DOMAIN_LAWS)
    assert {mutant.law for mutant in ALL_LEARNER_MUTANTS} == set(LEARNER_LAWS)


@cache
def passes_a_sound_domain(law: str, sound: Callable[[], Domain]) -> None:
    """The same for all mutants of a law that are made of one domain."""
    for seed in SEEDS:
        DOMAIN_LAWS[law](sound(), stream(seed, law))


@cache
def passes_a_sound_learner(law: str) -> None:
    for seed in SEEDS:
        LEARNER_LAWS[law](disc(), seed)


@pytest.mark.parametrize("mutant", DOMAIN_MUTANTS, ids=lambda m: f"{m.law}-{m.wrong}")
def test_domain_law_catches_its_mutant(mutant: DomainMutant) -> None:
    law = DOMAIN_LAWS[mutant.law]
    passes_a_sound_domain(mutant.law, mutant.sound)
    for seed in SEEDS:
        with pytest.raises(CheckFailedError, match=failure(mutant.law, r"\w+\((dim=)?\d\)")):
            law(mutant.broken(), stream(seed, mutant.law))


@pytest.mark.parametrize("mutant", ALL_LEARNER_MUTANTS, ids=lambda m: f"{m.law}-{m.wrong}")
def test_learner_law_catches_its_mutant(mutant: LearnerMutant) -> None:
    law = LEARNER_LAWS[mutant.law]
    passes_a_sound_learner(mutant.law)
    for seed in SEEDS:
        with pytest.raises(CheckFailedError, match=failure(mutant.law, r"\w+ on \w+\((dim=)?\d\)")):
            law(mutant.broken, seed)
