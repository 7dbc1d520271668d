"""What `make torture` does to the service, in small."""

from __future__ import annotations

import pytest

from dikin.service import limits
from service import adversity
from service.serving import QUICK, Serving


def test_silent_connections() -> None:
    assert adversity.silent_connections(300).rounds >= adversity.ROUNDS


def test_enormous_requests() -> None:
    assert 0.98 < len(adversity.ENORMOUS) / limits.LARGEST_REQUEST < 1.0
    assert adversity.enormous_requests(4).rounds > 0


def test_a_service_that_loses_answers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: every fifth answer is acknowledged and not written."""
    loses = """
from dikin.studies.study import Study
tell = Study.tell
def loses(self, query, *given, **named):
    if getattr(query, "id", query) % 5:
        tell(self, query, *given, **named)
Study.tell = loses
"""
    monkeypatch.setattr(Serving, "program", loses + QUICK)
    with pytest.raises(AssertionError, match=r"'lost': [1-9]"):
        adversity.enormous_requests(2)
