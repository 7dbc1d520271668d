"""What `make torture` does to servers and files, in small."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from studies import adversity
from studies.postgres import Server

TESTS = Path(__file__).resolve().parent.parent


def test_a_server_that_freezes(server: Server) -> None:
    rounds, _ = adversity.freezes(server, 2, seed=1)
    assert rounds >= 2


def test_full_disks() -> None:
    """In a process of its own, which forks: this one has threads."""
    lonely = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    code = "from studies.adversity import full_disks\nassert all(full_disks(2, 1))"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=TESTS, env=lonely)
