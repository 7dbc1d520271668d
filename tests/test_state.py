"""State on disk: what the laws do not say of saving, and files that are not whole."""

import contextlib
import copy
import itertools
import warnings
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors, serialization
from dikin.checks.learner import check_restored_learner_continues_exactly
from dikin.learners.predictive_schedule import NONE, OWN

BOX = dikin.Box([0, 0], [10, 2])
SMOOTH, LIPSCHITZ = dikin.AdaptiveSmooth, dikin.AdaptiveLipschitz


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        # The middle and half-width of these are rounded: they do not give back the two ends.
        (SMOOTH, {"loss_range": (-7.31, 1.17)}),
        (LIPSCHITZ, {"loss_range": (0.1, 0.3)}),
        (SMOOTH, {"loss_range": (1e-3, 1e3)}),
        (LIPSCHITZ, {"horizon": 50}),
        (SMOOTH, {"horizon": 50, "constants": "paper"}),
    ],
)
def test_continues_with_its_arguments(make: Any, arguments: dict[str, Any]) -> None:
    with warnings.catch_warnings(action="ignore"):
        check_restored_learner_continues_exactly(
            lambda seed: make(dikin.Simplex(3), 1.0, seed=seed, **arguments), 11
        )


class Forecasting(dikin.Predictive):
    """Asks two of three queries with a forecast."""

    def ask(self, *arguments: Any, **options: Any) -> Any:
        forecast = None if self.asked % 3 == 0 else 12.0 + self.asked % 5
        return super().ask(*arguments, **options | {"forecast": forecast})


class Forgetful(Forecasting):
    """Does not write down which forecast a query was asked with."""

    def state(self) -> dict[str, Any]:
        state = copy.deepcopy(super().state())
        for _, _, ((numbers, *_), *_) in state["open"]:
            numbers[OWN] = NONE
        return state


@pytest.mark.parametrize(
    "arguments",
    [
        {"smoothness": 0.5, "loss_range": (0.1, 40.3)},
        {"lipschitz": 3.0, "start": [4, 0.5], "memory": 9},
    ],
)
def test_forecasts_of_open_queries_come_back(arguments: dict[str, Any]) -> None:
    def check(kind: Any) -> None:
        check_restored_learner_continues_exactly(lambda seed: kind(BOX, seed=seed, **arguments), 11)

    check(Forecasting)
    with pytest.raises(errors.CheckFailedError):
        check(Forgetful)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The file of a learner that has played, with a query open."""
    learner = SMOOTH(BOX, 1.0, seed=11)
    for loss in (0.5, -0.3, 0.1):
        learner.tell(learner.ask(), loss)
    learner.ask()
    learner.save(tmp_path / "a.json")
    return tmp_path / "a.json"


def test_flipped_byte(saved: Path) -> None:
    whole, state = saved.read_bytes(), serialization.read(saved)
    passed = 0
    for place, bit in itertools.product(range(len(whole)), (0x01, 0x20)):
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with contextlib.suppress(errors.StateError):
            # 1e-05 and 1E-05 are one number, and so may be two long decimals.
            assert serialization.read(saved) == state
            passed += 1
    assert passed < 0.05 * len(whole)


def test_not_a_saved_learner(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for content in (
        *(b"", b"[]", bytes(range(256)), b"[" * 100_000, b"1" * 5000),
        b'{"format": "tune log", "version": 1, "state": {}}',
        b'{"format": "dikin learner", "version": 1}',
        b'{"format": "dikin learner", "state": {}}',
        b'{"format": "dikin learner", "state": {"rounds": 1',
    ):
        path.write_bytes(content)
        with pytest.raises(errors.StateError, match=r"a\.json"):
            dikin.load(path)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("version", "advice"), [(8, "continue with the dikin that wrote it"), (11, "upgrade dikin")]
)
def test_another_version(saved: Path, version: int, advice: str) -> None:
    saved.write_text(saved.read_text().replace('"version": 10', f'"version": {version}'))
    said = f"version {version}, this dikin reads version 10: {advice}"
    with pytest.raises(errors.StateError, match=said):
        dikin.load(saved)


def test_altered_state(saved: Path) -> None:
    state = serialization.read(saved)
    for key in state:
        with pytest.raises(errors.StateError, match=key):
            dikin.restore({name: part for name, part in state.items() if name != key})
    with pytest.raises(errors.ParameterError, match="Did you mean 'adaptivesmooth'"):
        dikin.restore(state | {"learner": "adaptivesmoth"})
    with pytest.raises(errors.ParameterError, match="Did you mean 'box'"):
        dikin.restore(state | {"domain": {"kind": "bx"}})
    for key, value in {"rounds": "x", "generator": {}, "numbers": {}, "open": [5]}.items():
        with pytest.raises(errors.StateError):
            dikin.restore(state | {key: value})
