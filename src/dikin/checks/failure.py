"""How a law fails."""

from __future__ import annotations

from typing import NoReturn

from dikin.errors import CheckFailedError


def fail(subject: object, message: str) -> NoReturn:
    """Say that a law is broken.

    Parameters
    ----------
    subject
        What broke it.
    message
        How, with the number that is wrong.

    Raises
    ------
    CheckFailedError
        Always.
    """
    raise CheckFailedError(f"{subject}: {message}")
