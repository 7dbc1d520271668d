"""The record: words, JSON and back."""

import json
from math import inf, nan
from typing import Any

from dikin.worth import Uplift

EXAMPLE = Uplift(
    mean=4.1,
    low=2.7,
    high=5.5,
    mean_percent=4.1,
    low_percent=2.7,
    high_percent=5.5,
    control_mean=100.0,
    tuned_rounds=3000,
    held_back_rounds=160,
    confidence=0.95,
    maximize=True,
)


def but(**changes: Any) -> Uplift:
    return Uplift(**vars(EXAMPLE) | changes)


def test_words() -> None:
    sure = "(95 %: +2.7 to +5.5, may be read at any time)"
    assert str(EXAMPLE) == f"+4.1 % {sure}, 12,300 earned so far"
    assert str(but(maximize=False)) == f"+4.1 % {sure}, 12,300 saved so far"
    assert str(but(mean=-4.1)) == f"+4.1 % {sure}, 12,300 lost so far"
    assert str(but(high_percent=inf)) == f"+4.1 {sure}, 12,300 earned so far"
    narrow = str(but(low_percent=4.05, high_percent=4.15))
    assert narrow.startswith("+4.100 % (95 %: +4.050 to +4.150,")
    assert EXAMPLE.rounds == 3160
    unknown = but(low=-inf, high=inf, note="3 of 20 answers of the control have come")
    assert str(but(note="It takes long")).endswith("so far. It takes long")
    assert str(unknown) == "not known: 3 of 20 answers of the control have come"


def test_json_and_back() -> None:
    for uplift in (
        EXAMPLE,
        but(low=-inf, high=inf, low_percent=-inf, note="few"),
        but(mean_percent=nan),
    ):
        content = json.loads(json.dumps(uplift.to_json(), allow_nan=False))
        again = Uplift.from_json(content)
        assert repr(again) == repr(uplift)
