"""Power loss, in small: `make power-loss` cuts a thousand rounds at every sync."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from studies import power_loss


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("synchronous", ["FULL", "OFF"])
def test_what_was_acknowledged_is_there_after_a_power_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synchronous: str
) -> None:
    """With synchronous=OFF, the mutant, it is not."""
    rounds = 6
    record = power_loss.recorded(tmp_path, rounds, synchronous)
    for kind in ("forgetful", "random"):
        found = power_loss.cut(record, kind)
        assert found.acknowledged == 2 * rounds
        assert found.cuts >= 2 * rounds - 1
        if synchronous == "FULL":
            assert (found.lost, found.first) == (0, "")
        else:
            assert found.lost > rounds
