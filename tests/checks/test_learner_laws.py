"""Every learner that the registry finds keeps every law, on one domain of every kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dikin
from dikin import registry
from dikin.checks import Law, Make, check_learner, learner_laws, makes
from dikin.errors import ParameterError


def cases() -> Iterator[tuple[str, Make, Law]]:
    for kind, learner in registry.learners().items():
        for place, domain_class in registry.domains().items():
            *_, domain = domain_class.examples()  # the last is the most awkward
            for i, make in enumerate(makes(learner, domain)):
                for name, law in learner_laws(learner).items():
                    yield f"{kind}{i}-{place}-{name}", make, law


CASES = list(cases())


@pytest.mark.parametrize(
    ("make", "law"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_learner_keeps_the_law(make: Make, law: Law) -> None:
    law(make, 0)


def test_check_learner_names_what_held() -> None:
    def make(domain: dikin.Domain, seed: int) -> dikin.Learner:
        return dikin.AdaptiveSmooth(domain, 1.0, seed=seed)

    held = check_learner(make, dikin.Ball(1), seed=3)
    assert held == list(learner_laws(dikin.AdaptiveSmooth))
    assert "check_estimate_is_unbiased_for_linear_losses" in held
    assert check_learner(dikin.AdaptiveSmooth, dikin.Ball(1)) == held
    with pytest.raises(ParameterError, match="needs a learner"):
        check_learner(dikin.Ball, dikin.Ball(1))  # type: ignore[arg-type]
