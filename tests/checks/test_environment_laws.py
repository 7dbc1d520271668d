"""Every environment on every domain keeps what it declares; each law catches its mutant."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dikin import registry
from dikin.checks import laws
from dikin.domains.ball import Ball
from dikin.environments.kink import Kink, PseudoKink, TurningKernel
from dikin.environments.ridge import Ridge, RidgeKernel
from dikin.errors import CheckFailedError
from dikin.rng import stream
from engine.games import nth

CHECKS = laws("dikin.checks.environment")
ENVIRONMENTS = list(registry.FOLDERS["environments"].every().values())


def meetings() -> Iterator[Any]:
    """Every environment on every kind of set with closed forms, by turns on one of the others."""
    kinds = {
        kind: next(iter(cls.examples()))
        for kind, cls in registry.FOLDERS["domains"].every().items()
    }
    closed = [kind for kind, domain in kinds.items() if domain.geometry(domain.radius).compilable]
    others = [kind for kind in kinds if kind not in closed]
    for turn, cls in enumerate(ENVIRONMENTS):
        for place, where in enumerate((*closed, others[turn % len(others)])):
            only = None if place == turn % len(closed) else place
            yield pytest.param(cls, where, only, id=f"{where}-{cls.__name__}")


@pytest.mark.parametrize(("cls", "where", "only"), list(meetings()))
def test_environment_keeps_the_laws(cls: Any, where: str, only: int | None) -> None:
    """Every example of a domain is met by some of the environments."""
    examples = list(registry.FOLDERS["domains"].every()[where].examples())
    domain = examples[ENVIRONMENTS.index(cls) % len(examples)]
    count = sum(1 for _ in cls.examples(domain, 3))
    for index in range(count) if only is None else [only % count]:
        for check in CHECKS.values():
            check(lambda i=index: nth(cls.examples(domain, 3), i), stream(0, check.__name__))


class TooCurved(Ridge):
    def curvature(self, round: int) -> float:
        return 1.01 * (super().curvature(round) + 0.01)


class TooRound(Ridge):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.smoothness = 0.7 * (self.smoothness or 0)


class TooSteep(Kink):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lipschitz *= 0.7


class OutOfRange(Ridge):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.loss_range = (self.loss_range[0], 0.1 * self.loss_range[1])


class Watching(Ridge):
    def answer(self, point: Any) -> tuple[float, float]:
        loss, curvature = super().answer(point)
        self._seen = getattr(self, "_seen", 0.0) + float(np.sum(point))
        return loss + 1e-6 * self._seen, curvature


class ShortTotal(Kink):
    def best(self) -> tuple[Any, float]:
        point, total = super().best()
        return point, float(np.float32(total))


class ElsewhereKernel(TurningKernel):
    def context(self, round: int) -> Any:
        return super().context(round + 1)


class Elsewhere(PseudoKink):
    def __init__(self, domain: Any, lipschitz: float, _: float, seed: int) -> None:
        super().__init__(domain, lipschitz, seed=seed)
        self.kernel = ElsewhereKernel(*self.kernel)


class Sideways(Ridge):
    """Its gradient has one entry too small by a hundredth."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kernel = SidewaysKernel(*self.kernel)


class SidewaysKernel(RidgeKernel):
    def gradient(self, round: int, chance: float, x: Any) -> Any:
        return super().gradient(round, chance, x) * np.array([0.99, 1.0, 1.0])


MUTANTS = {
    "check_losses_are_as_strongly_convex_as_told": [TooCurved],
    "check_losses_are_as_smooth_as_declared": [TooRound],
    "check_losses_are_as_steep_as_declared": [TooSteep],
    "check_losses_keep_the_declared_range": [OutOfRange],
    "check_losses_do_not_depend_on_play": [Watching],
    "check_gradients_support_the_losses": [Sideways],
    "check_best_is_no_worse_than_any_point": [ShortTotal],
    "check_losses_depend_on_the_context_alone": [Elsewhere],
}


def test_every_law_has_a_mutant() -> None:
    assert MUTANTS.keys() == CHECKS.keys()


@pytest.mark.parametrize("name", CHECKS)
def test_law_catches_its_mutants(name: str) -> None:
    for mutant in MUTANTS[name]:
        with pytest.raises(
            CheckFailedError, match=rf"(?s)is broken by {mutant.__name__}.+, wanted "
        ):
            CHECKS[name](lambda m=mutant: m(Ball(3), 1.0, 0.2, seed=1), stream(0, name))
