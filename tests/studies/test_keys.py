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


def test_a_key_is_for_one_request(url: str) -> None:
    with dikin.Study(url, "a", tuner()) as study:
        first = study.ask(key="k", covariates={"load": 1.0})
        assert study.ask(key="k", covariates={"load": 1}) == first
        for other in (None, {"load": 2.0}):
            with pytest.raises(errors.ParameterError, match="was used by another request"):
                study.ask(key="k", covariates=other)
        # Several under one key are no keys that somebody else could give.
        study.ask(n=2, key="m")
        assert study.ask(key="m 0").id == 3
        study.tell(first, 1.0)
        with pytest.raises(errors.ParameterError, match="was used by another request"):
            study.ask(key="k")


def test_a_key_covers_how_many_are_asked_for(url: str) -> None:
    with dikin.Study(url, "a", tuner()) as study:
        one, three = study.ask(key="one"), study.ask(n=3, key="three")
        assert study.ask(n=3, key="three") == three
        for n, key in ((None, "three"), (2, "three"), (4, "three"), (1, "one"), (2, "one")):
            with pytest.raises(errors.ParameterError, match=f"'{key}' was used by another request"):
                study.ask(n=n, key=key)
        single = study.ask(n=1, key="single")
        for n in (None, 2):
            with pytest.raises(errors.ParameterError, match="with another n"):
                study.ask(n=n, key="single")
        assert study.ask(key="one").id == one.id
        assert [each.id for each in study.ask(n=3, key="three")] == [each.id for each in three]
        assert [each.id for each in study.ask(n=1, key="single")] == [single[0].id]
        assert len(study.open_queries) == 5
