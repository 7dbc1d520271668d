"""How a law fails."""

from __future__ import annotations

from typing import NoReturn

from dikin.errors import CheckFailedError


def fail(subject: object, came: str, wanted: str) -> NoReturn:
    """Say that a law is broken.

    Parameters
    ----------
    subject
        What broke it.
    came
        What was done and what the result was.
    wanted
        What the law requires.

    Raises
    ------
    CheckFailedError
        Always.
    """
    raise CheckFailedError(f"{subject}: {came}, wanted {wanted}")
