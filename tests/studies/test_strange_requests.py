"""Strange URLs, names and JSON: short errors of the library's own, no password in any of them."""

import traceback
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors, serialization
from studies.small import command, plain

SECRET = "hunter2sEcret"


@pytest.mark.parametrize(
    "url",
    [
        *(None, b"x.db", 3, "", "a\0b.db", "://", "mysql://host/db", "sqlite://"),
        *("sqlite:///" + "a" * 5000, "sqlite:///:memory:"),
    ],
)
def test_an_absurd_url_is_refused(url: Any) -> None:
    with pytest.raises(errors.ParameterError) as refused:
        dikin.Study(url, "a", plain())
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("name", ["", "a\0", None, 3, "x" * 151, "a\nb", b"a", ["x"]])
def test_an_absurd_name_is_refused(file: str, name: Any) -> None:
    with pytest.raises(errors.ParameterError, match="printable"):
        dikin.Study(file, name, plain())
    assert not Path(file).exists()
    dikin.Study(file, "a", plain()).close()
    with pytest.raises(errors.ParameterError, match="printable"):
        dikin.Study.delete(file, name)
    assert dikin.Study.names(file) == ["a"]


@pytest.mark.parametrize("name", ["[/red]", "$x^$", "a/b", "ü ✓", "<b>", "%s {0}"])
def test_a_name_may_be_any_text(file: str, name: str, tmp_path: Path) -> None:
    with dikin.Study(file, name, plain()) as study:
        for _ in range(3):
            study.tell(study.ask(), 0.5)
        study.plot(tmp_path / "a.svg")
        assert "<b>" not in study._repr_html_().replace("&lt;b&gt;", "")
    assert name in command("show", name, "--url", file).output


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?user=a&password={SECRET}",
        f"postgresql://127.0.0.1:1/db?sslpassword={SECRET}&connect_timeout=2",
        f"postgresql://user:{SECRET}@127.0.0.1:port/db",
        f"postgresql://user:{SECRET}@[::1/db",
        f"postgresql+nodriver://user:{SECRET}@127.0.0.1/db",
        f"nothing://user:{SECRET}@127.0.0.1/db",
        f"sqlite://user:{SECRET}@/x.db",
        f"postgresql://user:{SECRET}%40%2F@127.0.0.1:1/db",
        f"postgresql://user:{SECRET}+%40@127.0.0.1:1/db",
    ],
)
def test_no_password_is_ever_shown(url: str) -> None:
    with pytest.raises(errors.DikinError) as refused:
        dikin.Study(url, "a", plain(), patience=0.05)
    shown = "".join(traceback.format_exception(refused.value, chain=True))
    assert SECRET not in str(refused.value)
    assert SECRET not in shown.replace(f'"{url}"', "")


def test_a_strange_round_is_refused(file: str) -> None:
    with dikin.Study(file, "a", plain()) as study:
        study.tell(study.ask(), 0.5)
        for strange in (None, "x", 2.5, -1, 0):
            with pytest.raises(errors.ParameterError):
                study.trim(strange)  # type: ignore[arg-type]
        for strange in ("x", 2.5, [1]):
            with pytest.raises(errors.ParameterError):
                study.history(strange)  # type: ignore[arg-type]
        assert len(study.history()) == 1


@pytest.mark.parametrize("now", [10**18, -(10**15), 0])
def test_a_clock_may_say_anything(file: str, now: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The year 33658, or before 1970."""
    with dikin.Study(file, "a", plain()) as study:
        monkeypatch.setattr("dikin.studies.ledger.now", lambda: now)
        study.ask()
        (waiting,) = study.open_queries
        assert 1970 <= waiting.asked.year <= 9999
        assert dict(study.status().lines())["open trials"].startswith("1, the oldest for ")
        study.tell(waiting, 0.5)
        assert study.verify().rows == 2


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


def test_a_saved_file_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    dikin.Tuner({"x": dikin.Real(0, 1)}, seed=7).save(path)
    path.write_text(path.read_text().replace('"version":', '"version": 5, "version":', 1))
    with pytest.raises(errors.StateError, match="'version' occurs twice"):
        dikin.load(path)


def test_a_message_is_cut() -> None:
    assert errors.shortened("a" * 2000) == "a" * 2000
    cut = errors.shortened("a" * 1_000_000)
    assert len(cut) == 2000
    assert cut.endswith("(cut: 1,000,000 characters)")


def test_names_that_are_known_are_not_all_listed() -> None:
    known = [f"study {n:05}" for n in range(10_000)]
    said = errors.did_you_mean("study 07000" * 1000, known)
    assert said.endswith("study 00049 and 9,950 more.")
    assert errors.did_you_mean("b", ["a", "b1"]) == " Did you mean 'b1'? Known: a, b1."
