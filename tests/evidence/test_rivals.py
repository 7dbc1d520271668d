"""Optimizers of other packages: what they learn, and Bluefin by its text."""

from typing import Any

import numpy as np
import pytest

import dikin
from evidence import rivals

BOWL = {"x": dikin.Real(0, 10, start=2), "y": dikin.Real(1, 100, start=50, log=True)}


def bowl(point: Any) -> float:
    """Least at (7, 10), which is (0.7, 0.5) on the cube; 1 plus the squared distance there."""
    x, y = point[0] / 10, np.log(point[1]) / np.log(100)
    return 1 + (x - 0.7) ** 2 + (y - 0.5) ** 2


@pytest.mark.parametrize("name", ["Bluefin", "NoiseHandlingCMA", "PyCMA", "TBPSA", "TPE"])
@pytest.mark.parametrize("maximize", [False, True])
def test_rivals_learn_also_from_late_answers(name: str, maximize: bool) -> None:
    sign = -1 if maximize else 1
    rival = getattr(rivals, name)(BOWL, maximize, 1, 160)
    for _ in range(40):
        trials = [rival.ask() for _ in range(4)]
        for trial in reversed(trials):
            assert 0 <= trial.params["x"] <= 10
            assert 1 <= trial.params["y"] <= 100
            rival.tell(trial, sign * bowl(trial.point))
    best = [rival.best["x"], rival.best["y"]]
    assert bowl(best) - 1 < 0.25 * (bowl([2, 50]) - 1)


@pytest.mark.parametrize("name", ["Bluefin", "PyCMA", "TBPSA", "Today"])
def test_rivals_begin_at_todays_setting(name: str) -> None:
    for parameters in (BOWL, {"s": dikin.Shares(["a", "b", "c"], start=[0.5, 0.3, 0.2])}):
        rival = getattr(rivals, name)(parameters, False, 1, 9)
        assert rival._values(rival._recommended()) == pytest.approx(rival.space.start_values)


def test_bluefin_is_its_text() -> None:
    """FKM with RMSprop on the cube, word for word; with another decay it is noticed."""

    def gap(decay: float) -> float:
        rival = rivals.Bluefin(BOWL, False, 3, 120)
        z, v, gap = rival._start(), np.zeros(2), 0.0
        unit = None
        for t in range(60):
            steps, losses = [], []
            for _ in range(2):
                trial = rival.ask()
                at = [trial.params["x"] / 10, np.log(trial.params["y"]) / np.log(100)]
                steps.append(np.array(at) - z)
                value = float(np.cos(3 * steps[-1].sum() + t // 20))
                unit = unit or abs(value)
                losses.append(value / (1000 * unit))
                rival.tell(trial, value)
            s = (steps[0] - steps[1]) / 0.2
            gap = max(gap, abs(float(np.linalg.norm(s)) - 1), float(np.abs(sum(steps)).max()))
            g = 2 / 0.2 * (losses[0] - losses[1]) * s
            v = decay * v + (1 - decay) * g**2
            z = np.clip(z - 0.01 * g / (np.sqrt(v) + 1e-8), 0.1, 0.9)
            gap = max(gap, float(np.abs(z - rival._recommended()).max()))
        return gap

    assert gap(0.99) < 1e-9
    assert gap(0.999) > 1e-3


def test_the_nearest_shares() -> None:
    """By the variational inequality: (z - p)(q - p) <= 0 for every q, and so for every corner."""
    generator = np.random.default_rng(1)
    for z in generator.normal(0.3, 0.6, size=(100, 4)):
        p = rivals.nearest_shares(z)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1)
        assert ((z - p) @ (np.eye(4) - p).T <= 1e-12).all()


def test_far_outside_costs_more() -> None:
    """The squared distance to what was played, in units of the first loss."""
    told: list[float] = []

    class Far(rivals.Today):
        def _next(self) -> Any:
            return None, np.array([1.0, 1.0])

        def _values(self, z: Any) -> Any:
            return rivals.nearest_shares(z)

        def _learn(self, candidate: Any, loss: float) -> None:
            told.append(loss)

    player = Far({"s": dikin.Shares(["a", "b"])}, False, 1, 2)
    for value in (4.0, 7.0):
        player.tell(player.ask(), value)
    assert told == pytest.approx([4 + 4 * 0.5, 7 + 4 * 0.5])
