"""Every domain that the registry finds, with every example, keeps every law; wrapped ones too."""

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

import dikin
from checks.mutants import DOMAIN_LAWS
from dikin import registry
from dikin.checks import Law, check_domain, laws
from dikin.checks.sample_points import interior
from dikin.domains.affine import Affine
from dikin.domains.base import Domain
from dikin.domains.box import Box
from dikin.domains.product import Product
from dikin.errors import ParameterError
from dikin.rng import stream


def examples() -> Iterator[tuple[str, Domain]]:
    for kind, cls in registry.FOLDERS["domains"].every().items():
        for i, domain in enumerate(cls.examples()):
            yield f"{kind}{i}", domain


def turned(domain: Domain) -> Affine:
    """The domain turned, and stretched a hundred times more along one axis than another."""
    n = domain.center.size
    rng = np.random.default_rng(n)
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    matrix = (left * np.geomspace(0.1, 10, n)) @ right
    return Affine(domain, matrix, 1 - matrix @ domain.center.ravel())


def cases() -> Iterator[tuple[str, Domain, Iterable[Law]]]:
    """An affine image of a set has no geometry of its own: the laws of the barrier suffice."""
    every = DOMAIN_LAWS.values()
    for label, domain in EXAMPLES.items():
        yield label, domain, every
    last = {domain.kind: label for label, domain in EXAMPLES.items()}
    for label in (last[kind] for kind in ("simplex", "spectrahedron", "product")):
        yield f"{label}-in-product", Product(EXAMPLES[label], Box([-1], [4])), every
        yield f"{label}-in-affine", turned(EXAMPLES[label]), BARRIER_LAWS.values()


BARRIER_LAWS = laws("dikin.checks.domain")
EXAMPLES = dict(examples())
CASES = list(cases())


@pytest.mark.parametrize(
    ("domain", "kept"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_domain_keeps_the_laws(domain: Domain, kept: Iterable[Law]) -> None:
    for law in kept:
        law(domain, stream(0, law.__name__))


@pytest.mark.parametrize("domain", EXAMPLES.values(), ids=EXAMPLES)
def test_tolerances_mean_something(domain: Domain) -> None:
    """Where rounding is large a law would grant everything: no example is so badly scaled."""
    for each, most in ((domain, 1e-9), (turned(domain), 1e-2)):
        inner = list(interior(each, stream(0, "tolerances")))
        assert max(at.rounding for at in inner) < 1e-7
        assert max(at.hessian_rounding for at in inner) < most


def test_check_domain_names_what_held() -> None:
    assert check_domain(dikin.Ball(2), seed=3) == list(BARRIER_LAWS)
    with pytest.raises(ParameterError, match="needs a domain"):
        check_domain([1.0])  # type: ignore[arg-type]
