"""Records: the same names in plain Python, in the compiled loop and in a saved state."""

from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.kernel import Record, from_values, to_numpy, to_saved
from dikin.learners.predictive_schedule import Numbers
from paper.charts import holds


def numbers() -> Numbers:
    """Of a learner in the middle of a game."""
    learner = dikin.Predictive(dikin.Ball(2), 1.0, memory=20, seed=1)
    for t in range(20):
        learner.tell(learner.ask(forecast=0.1), 0.3 * (t % 7))
    found: Numbers = learner._state.numbers
    return found


@dataclass(slots=True)
class SharesItsSamples(Numbers):
    def copy(self) -> "SharesItsSamples":
        return Record.copy(self)


def test_a_copy_can_be_written_into() -> None:
    def check(kind: Any) -> None:
        n = kind(*astuple(numbers()))
        before, twin = asdict(n), n.copy()
        assert asdict(twin) == before
        twin.rate = twin.last = twin.samples[0] = 77.0
        assert asdict(n) == before

    holds(check, Numbers, SharesItsSamples)


@pytest.mark.parametrize("values", [numbers(), [0.5, 2.0, 1e300]], ids=["record", "list"])
def test_numbers_come_back_from_the_compiled_loop_and_from_a_state(values: Any) -> None:
    form = values.copy()
    assert from_values(form, to_numpy(values)) == values
    assert from_values(form, to_saved(values)) == values


def test_a_record_for_the_compiled_loop_has_the_same_names_and_is_written_into() -> None:
    n = numbers()
    record = to_numpy(n)
    assert record.tau == n.tau
    record.tau += 1.0
    record.samples[3] = -5.0
    changed = from_values(n, record)
    assert changed.tau == n.tau + 1.0
    assert changed.samples[3] == -5.0


def names(record: Record) -> list[str]:
    """Of all fields, those of records inside included."""
    own = [(field.name, getattr(record, field.name)) for field in fields(record)]
    inner = [name for _, part in own if isinstance(part, Record) for name in names(part)]
    return [name for name, _ in own] + inner


def test_no_name_is_one_of_numpys() -> None:
    """An attribute of a NumPy record is its method of that name, and only else its field."""
    assert not set(names(numbers())) & set(dir(np.record))
    assert {"clip", "mean"} <= set(dir(np.record))
