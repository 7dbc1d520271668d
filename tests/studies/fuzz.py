"""Lines that hardly anybody would send: each gets one answer, and what is refused does nothing."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from typing import Any

import dikin
from dikin.studies.jsonl import answer_lines

LINES = [
    b'{"ask": {}}',
    b'{"ask": {"forecast": 0.5}}',
    b'{"tell": {"id": 0, "loss": 0.25, "curvature": 0.5}}',
    b'{"tell": {"id": 3, "value": 1e-3}}',
    b'{"forget": {"id": 1}}',
    b'{"open": {}}',
    b'{"show": {}}',
    b'{"hold": {}}',
    b'{"summary": {}}',
]
PARTS = [
    *(b"", b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"NaN", b"Infinity", b"-"),
    *(b"1e999", b"1" * 400, b"[[[[", b'{"a":' * 50, b"\\u0000", b"\xff", b"\x00", b"\r", b"0x1"),
    *(b'"id"', b'"loss"', b'"ask"', b"9" * 20, b"-1", b"0.1", b'"\\ud800"', b"\xe2\x80\xa8", b" "),
]


def line(chance: random.Random) -> bytes:
    """A line with some parts exchanged, left out or doubled."""
    made = bytearray(chance.choice(LINES))
    for _ in range(chance.randrange(4)):
        begin = chance.randrange(len(made) + 1)
        end = min(len(made), begin + chance.randrange(6))
        made[begin:end] = chance.choice(PARTS)
    return bytes(made).replace(b"\n", b"") or b"x"


def conversation(study: dikin.Study[Any], count: int, seed: int) -> Iterator[bool]:
    """Send lines; whether each was refused. An answer is an object with no error of another's."""
    chance = random.Random(seed)
    for _ in range(count):
        sent = line(chance)
        before = study.rounds, [query.id for query in study.open_queries]
        sink = io.BytesIO()
        answer_lines(study, io.BytesIO(sent + b"\n"), sink)
        if not sent.strip():
            continue
        (text,) = sink.getvalue().splitlines()
        answer = json.loads(text)
        refused = "error" in answer
        if refused:
            assert answer["error"]["code"] != "internal", sent
            assert len(answer["error"]["message"]) < 1000, sent
            after = study.rounds, [query.id for query in study.open_queries]
            assert after == before, sent
        yield refused
    assert study.verify() >= 0
