"""Seals of rows: each is a digest of the seal before it, of the first row's number, and the rows.

Rows that were appended together have one seal. So an altered, missing, duplicate or swapped row is
noticed when rows are read. The digest of the rows is made by the client, the seal where the number
is known: in the statement that appends them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

CHARACTERS = 32
"""Length of a seal."""


def digest_of(rows: Sequence[Any]) -> str:
    """Return the digest of the content of rows, each with the parts of a `Record` first."""
    content = [tuple(row)[:6] for row in rows]
    return sha256(json.dumps(content).encode()).hexdigest()


def seal_after(before: str, first: int, digest: str) -> str:
    """Return the seal of rows from number `first` on, after rows with the seal `before`."""
    return sha256(f"{before} {first} {digest}".encode()).hexdigest()[:CHARACTERS]
