"""Strange URLs, names and lines: the library's own errors, no password in any of them."""

from __future__ import annotations

import io
import json
import traceback
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies.jsonl import answer_lines

SECRET = "hunter2sEcret"


def learner() -> dikin.Learner:
    return dikin.Predictive(dikin.Ball(2), seed=1)


@pytest.mark.parametrize(
    "url",
    [
        None,
        b"x.db",
        3,
        "",
        "a\0b.db",
        "foo://bar:baz/qux",
        "://",
        "sqlite:///" + "a" * 5000,
        "mysql://host/db",
        "sqlite://",
        ["x"],
    ],
)
def test_an_absurd_url_is_refused(url: Any) -> None:
    with pytest.raises(errors.ParameterError) as refused:
        dikin.Study(url, "a", learner())
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("name", ["", "a\0", None, 3, "x" * 151, "a\nb", b"a"])
def test_an_absurd_name_is_refused(file: str, name: Any) -> None:
    with pytest.raises(errors.ParameterError, match="printable"):
        dikin.Study(file, name, learner())
    assert not Path(file).exists()


@pytest.mark.parametrize("name", [1.0, None, b"a", "", ["x"], "a\0"])
def test_an_absurd_name_cannot_be_deleted(file: str, name: Any) -> None:
    dikin.Study(file, "a", learner()).close()
    with pytest.raises(errors.ParameterError, match="printable"):
        dikin.Study.delete(file, name)
    assert dikin.Study.names(file) == ["a"]


@pytest.mark.parametrize(
    "arguments", [("x",), (None,), (1.5,), (-2,), (-1, "x"), (-1, -1), (0, 1.0)]
)
def test_absurd_places_in_the_list_of_open_queries(file: str, arguments: Any) -> None:
    with dikin.Study(file, "a", learner()) as study:
        query = study.ask()
        with pytest.raises(errors.ParameterError):
            study.waiting(*arguments)
        assert study.waiting(-1, 1)[0].id == query.id


@pytest.mark.parametrize("name", ["[/red]", "$x^$", "a/b", "ü ✓", "<b>", "%s {0}"])
def test_a_name_may_be_any_text(file: str, name: str, tmp_path: Path) -> None:
    from dikin.studies import display

    with dikin.Study(file, name, learner()) as study:
        for _ in range(3):
            study.tell(study.ask(), 0.5)
        assert any(name in line for line in display.text(study))
        study.plot(tmp_path / "a.svg")
        assert "<b>" not in study._repr_html_().replace("&lt;b&gt;", "")


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
        dikin.Study(url, "a", learner(), patience=0.05)
    shown = "".join(traceback.format_exception(refused.value, chain=True))
    assert SECRET not in str(refused.value)
    assert SECRET not in shown.replace(f'"{url}"', "")


def replies(study: Any, *lines: bytes, longest: int = 1_000_000) -> list[Any]:
    sink = io.BytesIO()
    answer_lines(study, io.BytesIO(b"\n".join(lines) + b"\n"), sink, longest)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_a_key_that_stands_twice_is_refused(file: str) -> None:
    with dikin.Study(file, "a", learner()) as study:
        study.ask()
        twice = b'{"tell": {"id": 0, "loss": 1.0, "loss": 2.0}}'
        (answer,) = replies(study, twice)
        assert answer["error"]["code"] == "request"
        assert "'loss' occurs twice" in answer["error"]["message"]
        assert study.rounds == 0


def test_a_line_that_is_too_long_is_not_read(file: str) -> None:
    with dikin.Study(file, "a", learner()) as study:
        long = b'{"ask": {"x": "' + b"y" * 5000 + b'"}}'
        first, second = replies(study, long, b'{"ask": {}}', longest=1000)
        assert "at most 1,000 bytes" in first["error"]["message"]
        assert second["id"] == 0
        exact = b'{"ask": {}}'.ljust(1000)
        assert replies(study, exact, longest=1000)[0]["id"] == 1


@pytest.mark.parametrize("value", [b"1" + b"0" * 5000, b"[" * 3000 + b"]" * 3000, b"1e999"])
def test_strange_numbers_in_a_line_are_refused(file: str, value: bytes) -> None:
    with dikin.Study(file, "a", learner()) as study:
        study.ask()
        for line in (
            b'{"tell": {"id": 0, "loss": ' + value + b"}}",
            b'{"forget": {"id": ' + value + b"}}",
        ):
            (answer,) = replies(study, line)
            assert answer["error"]["code"] != "internal", answer
            assert len(answer["error"]["message"]) < 600
        assert study.rounds == 0
        assert len(study.open_queries) == 1


def test_a_strange_round_is_refused(file: str) -> None:
    with dikin.Study(file, "a", learner()) as study:
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
    with dikin.Study(file, "a", learner()) as study:
        monkeypatch.setattr("dikin.studies.local._now", lambda: now)
        study.ask()
        (waiting,) = study.open_queries
        assert 1970 <= waiting.asked.year <= 9999
        assert dict(study.status().lines())["open queries"].startswith("1, the oldest for ")
        study.tell(waiting, 0.5)
        assert study.verify() == 2
