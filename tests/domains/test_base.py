"""What all sets have in common: they are values, and a wrong name gets the nearest one."""

import numpy as np
import pytest

from dikin import Ellipsoid, Simplex, errors, registry
from dikin.domains.base import DOMAINS, Domain


@pytest.mark.parametrize(
    "cls",
    registry.FOLDERS["domains"].every().values(),
    ids=list(registry.FOLDERS["domains"].every()),
)
def test_a_domain_is_a_value(cls: type[Domain]) -> None:
    domain = next(cls.examples())
    with pytest.raises(AttributeError, match=f"{cls.__name__}.*instead of changing radius"):
        domain.radius = 3.0
    with pytest.raises(ValueError, match="read-only"):
        domain.center[...] = 0


def test_an_unknown_kind_gets_the_nearest_name() -> None:
    with pytest.raises(errors.ParameterError) as caught:
        DOMAINS.find("elipsoid")
    wanted = "no domain is called 'elipsoid'. Did you mean 'ellipsoid'? Known: affine, ball, box,"
    assert str(caught.value).startswith(wanted)


def test_what_is_known_of_the_symmetry_of_any_set() -> None:
    """The ellipsoid of radius 1 is inside and that of radius nu + 2 sqrt(nu) around: 1/8 for 4."""
    assert Domain.symmetry.func(Simplex(5)) == 1 / 8


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.0, np.pi / 2])
@pytest.mark.parametrize("length", [1e-6, 0.7, 40.0])
def test_the_gauge_by_the_barrier_alone_is_that_of_an_ellipse(angle: float, length: float) -> None:
    """Bisection and the slack are exact to a few roundings each."""
    axes = np.array([3.0, 0.5])
    v = length * np.array([np.cos(angle), np.sin(angle)])
    found = Domain.gauge(Ellipsoid([0, 0], np.diag(axes**2)), v)
    assert found == pytest.approx(float(np.linalg.norm(v / axes)), rel=1e-14)
