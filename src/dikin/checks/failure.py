"""The one way to report that a law is broken."""

from __future__ import annotations

from typing import Any

from dikin.errors import CheckFailedError


def require(
    holds: bool, subject: object, quantity: str, found: object, wanted: object, **where: Any
) -> None:
    """Raise a `CheckFailedError` with the computed and the required number, unless it holds."""
    if not holds:
        place = "".join(f", {name} {value}" for name, value in where.items())
        raise CheckFailedError(
            f"{subject}: {quantity} is {_text(found)}{place}, wanted {_text(wanted)}"
        )


def at_most(subject: object, quantity: str, found: float, limit: float, **where: Any) -> None:
    """Require a number that is at most a limit. NaN is not."""
    require(found <= limit, subject, quantity, found, f"at most {_text(limit)}", **where)


def _text(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
