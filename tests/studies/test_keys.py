"""Requests with a key: one that is sent again gets the same query, whatever happened meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

import dikin
from dikin import errors
from studies.small import plain


def tuner() -> dikin.Tuner:
    return dikin.Tuner({"x": dikin.Real(0, 1), "n": dikin.Integer(1, 5)}, seed=1)


def test_the_same_key_gives_the_same_query(url: str) -> None:
    with dikin.Study(url, "a", tuner()) as study:
        first = study.ask(key="one")
        assert study.ask(key="one") == first
        other = study.ask(key="two")
        assert other.id != first.id
        with dikin.Study(url, "a") as elsewhere:
            assert elsewhere.ask(key="two") == other
            elsewhere.tell(first, 0.5)
        again = study.ask(key="one")  # answered meanwhile
        assert again.id == first.id
        assert again.point.tolist() == first.point.tolist()
        assert len(study.open_queries) == 1
        assert study.verify().rows == 3


def test_a_key_is_of_one_study(file: str) -> None:
    with dikin.Study(file, "a", plain()) as a, dikin.Study(file, "b", plain()) as b:
        a.ask(key="k")
        b.ask()
        assert b.ask(key="k").id == 1
    dikin.Study.delete(file, "a")
    with dikin.Study(file, "a", plain()) as a:
        a.tell(a.ask(), 0.5)
        assert a.ask(key="k").id == 2


@pytest.mark.parametrize("key", ["", "x" * 151, "a\nb", 3, b"k"])
def test_an_absurd_key_is_refused(file: str, key: Any) -> None:
    with dikin.Study(file, "a", plain()) as study:
        with pytest.raises(errors.ParameterError, match="key must be"):
            study.ask(key=key)
        assert not study.open_queries


def test_a_refused_ask_uses_no_key(file: str) -> None:
    with dikin.Study(file, "a", plain()) as study:
        with pytest.raises(errors.ContextError):
            study.ask({"region": "eu"}, key="k")
        assert study.ask(key="k").id == 0


REQUESTS: dict[str, dict[str, Any]] = {
    "one": {},
    "single": {"n": 1},
    "three": {"n": 3},
    "known": {"covariates": {"load": 1}},
}
MORE: list[dict[str, Any]] = [{"n": 2}, {"covariates": {"load": 2.0}}]


def ids(given: Any) -> list[int]:
    return [each.id for each in (given if isinstance(given, list) else [given])]


def test_a_key_is_for_one_request(url: str) -> None:
    with dikin.Study(url, "a", tuner()) as study:
        first = {key: study.ask(key=key, **given) for key, given in REQUESTS.items()}
        for _ in range(2):
            for key, given in REQUESTS.items():
                assert ids(study.ask(key=key, **given)) == ids(first[key])
                for other in [*REQUESTS.values(), *MORE]:
                    if other != given:
                        with pytest.raises(errors.ParameterError, match=f"'{key}' was used by"):
                            study.ask(key=key, **other)
            study.tell(first["known"], 1.0)
        # Several under one key are no keys that somebody else could give.
        assert study.ask(key="three 0").id not in ids(first["three"])
        assert len(study.open_queries) == 6
