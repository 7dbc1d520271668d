"""How a law fails."""

from __future__ import annotations

from typing import NoReturn

from dikin.errors import CheckFailedError


def fail(subject: object, result: str, requirement: str) -> NoReturn:
    """Say that a law is broken.

    Parameters
    ----------
    subject
        What broke it.
    result
        What was done and what the result was.
    requirement
        What the law requires.

    Raises
    ------
    CheckFailedError
        Always.
    """
    raise CheckFailedError(f"{subject}: {result}, wanted {requirement}")
