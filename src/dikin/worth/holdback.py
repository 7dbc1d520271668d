"""The holdback: rounds, drawn by an independent coin, that use the control."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from math import lgamma, log, log1p
from typing import Any

from dikin.arguments import number
from dikin.errors import ParameterError, shown

MOST = 0.5
"""The largest share: more control than tuning would be another experiment."""
LOST_ALPHA, PRIOR = 1e-4, 4.0
"""The chance of a false alarm about missing values, ever; the weight of the Beta distribution."""


def holdback_share(value: Any) -> float:
    """Return a checked share of rounds to hold back: from 0, for none, to 0.5."""
    wanted = f"the share of rounds that use the control, from 0 (none) to {MOST:g}"
    return _checked_share(value, "holdback", wanted, lambda share: 0.0 <= share <= MOST)


def guard_share(value: Any) -> float:
    """Return a checked share of the control's value: above 0 and below 1."""
    wanted = "a share of the control's value, above 0 and below 1"
    return _checked_share(value, "guard", wanted, lambda share: 0.0 < share < 1.0)


def _checked_share(value: Any, name: str, wanted: str, is_right: Callable[[float], bool]) -> float:
    share = number(value, name)
    if not is_right(share):
        hint = f". If you mean {share:g} %, write {share / 100:g}" if is_right(share / 100) else ""
        raise ParameterError(f"{name} must be {wanted}, got {shown(value)}{hint}")
    return share


def is_held_back(key: str, id: int, share: float) -> bool:
    """Return True if a trial of a tuner's key uses the control: the same in every process."""
    # The personalisation separates this stream from every other hash of the same key and id.
    digest = hashlib.blake2b(f"{key}/{id}".encode(), digest_size=8, person=b"holdback").digest()
    return (int.from_bytes(digest) >> 11) / 2.0**53 < share


def lost_answers(share: float, tuned: int, held_back: int) -> str | None:
    """Return a warning if more values of one arm are missing than the coin explains (Ville)."""
    if evidence(share, tuned, held_back) <= -log(LOST_ALPHA):
        return None
    missing = tuned + held_back
    return (
        f"of {missing:,} missing values {held_back:,} are of the control, where about "
        f"{share * missing:,.1f} are expected. Answers of one arm get lost or come late, and the "
        "arms cannot be compared"
    )


def evidence(share: float, tuned: int, held_back: int) -> float:
    """Return the logarithm of a martingale of the counts (Lindon and Malek, NeurIPS 2022)."""
    a, b = PRIOR * share, PRIOR * (1.0 - share)
    drawn = _log_beta(a + held_back, b + tuned) - _log_beta(a, b)
    return drawn - held_back * log(share) - tuned * log1p(-share)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
