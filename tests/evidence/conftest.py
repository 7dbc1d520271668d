"""Figures that are drawn and not encoded."""

from __future__ import annotations

import pytest

from dikin.plotting import style


@pytest.fixture
def unencoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of figures have no content, for tests of what a run writes and keeps.

    How the same figures look is in test_readable.py, and how files are written in tests/plotting.
    """
    monkeypatch.setattr(style, "rendered", lambda figure, kind: kind.encode())
