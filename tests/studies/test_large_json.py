"""JSON that is large or strange: read in a time that grows with its length, refused briefly."""

from __future__ import annotations

from pathlib import Path

import pytest

import dikin
from dikin import errors, serialization
from dikin.studies.tuner_options import TUNER_EXAMPLE, tuner_from_text


class Counted(str):
    """A text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def names(count: int) -> list[Counted]:
    Counted.compared = 0
    return [Counted(f"name {n}") for n in range(count)]


MANY = 2000


def test_a_repeated_key_is_found_with_few_comparisons() -> None:
    pairs = [(name, 0) for name in [*names(MANY), Counted(f"name {MANY - 1}")]]
    with pytest.raises(ValueError, match=f"'name {MANY - 1}' occurs twice in one object"):
        serialization._object(pairs)
    assert Counted.compared < 10 * MANY


def test_parameters_are_told_apart_with_few_comparisons() -> None:
    dikin.Tuner({name: dikin.Real(0, 1) for name in names(MANY)}, seed=7)
    assert Counted.compared < 100 * MANY


TWICE = '{"tuner": {"x": {"low": 0, "high": 1}, "x": {"low": 0, "high": 9}}}'


def test_the_command_line_takes_no_key_twice() -> None:
    with pytest.raises(errors.ParameterError, match="'x' occurs twice"):
        tuner_from_text(TWICE)
    with pytest.raises(errors.ParameterError, match="NaN is not JSON"):
        tuner_from_text('{"tuner": {"x": {"low": NaN, "high": 1}}}')
    assert tuner_from_text(TUNER_EXAMPLE).rounds == 0


def test_a_saved_file_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    dikin.Tuner({"x": dikin.Real(0, 1)}, seed=7).save(path)
    path.write_text(path.read_text().replace('"version":', '"version": 5, "version":', 1))
    with pytest.raises(errors.StateError, match="'version' occurs twice"):
        dikin.load(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"id": -' + b"9" * 900_000 + b"}", "digits"),
        (b"\xff", "utf-8"),
        (b'{"a": Infinity}', "Infinity is not JSON"),
    ],
)
def test_strange_json(text: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        serialization.strict_json(text)


def test_a_message_is_cut() -> None:
    assert errors.shortened("a" * 2000) == "a" * 2000
    cut = errors.shortened("a" * 1_000_000)
    assert len(cut) == 2000
    assert cut.endswith("(cut: 1,000,000 characters)")


def test_names_that_are_known_are_not_all_listed() -> None:
    known = [f"study {n:05}" for n in range(10_000)]
    said = errors.did_you_mean("study 07000" * 1000, known)
    assert said.endswith("study 00049 and 9,950 more.")
    assert errors.did_you_mean("b", []) == ""
    assert errors.did_you_mean("b", ["a", "b1"]) == " Did you mean 'b1'? Known: a, b1."
