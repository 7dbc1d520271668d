"""Optuna's own tests of a sampler, on ours; versions before 4.8 have none."""

from collections.abc import Callable
from typing import Any

import pytest

from dikin.adapters.optuna import TunerSampler

theirs: Any = pytest.importorskip("optuna.testing.pytest_samplers")


class TestAsOptunaDoes(theirs.BasicSamplerTestCase, theirs.RelativeSamplerTestCase):
    """Optuna's own tests."""

    @pytest.fixture
    def sampler(self) -> Callable[[], TunerSampler]:
        return lambda: TunerSampler(seed=7)
