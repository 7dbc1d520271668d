"""Tables of names that a test may add to: afterwards they are as they were."""

import pytest

from dikin import registry


def scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every table be a copy until the test ends."""
    for known in registry.FOLDERS.values():
        monkeypatch.setattr(known, "classes", dict(known.classes))
