"""The holdback: rounds, drawn by an independent coin, that play the control.

The coin of a round is a function of a key and the trial's id. So a journal that has both replays
the same coins, and no generator has a state that could be lost or shared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dikin.arguments import number
from dikin.errors import ParameterError, shown
from dikin.rng import lot

MOST = 0.5
"""The largest share: more control than tuning would be another experiment."""


def holdback_share(value: Any) -> float:
    """The share of rounds to hold back, checked.

    Parameters
    ----------
    value : float
        From 0, for none, to 0.5; 0.05 is usual.

    Returns
    -------
    float
        The share.

    Raises
    ------
    ParameterError
        If it is not such a number.
    """
    wanted = f"the share of rounds that play the control, from 0 (none) to {MOST:g}"
    return _checked_share(value, "holdback", wanted, lambda share: 0.0 <= share <= MOST)


def share_above_zero(value: Any) -> float:
    """The share of rounds to hold back, where there must be some.

    Parameters
    ----------
    value : float
        Above 0 and at most 0.5.

    Returns
    -------
    float
        The share.

    Raises
    ------
    ParameterError
        If it is not such a number.
    """
    share = holdback_share(value)
    if share == 0.0:
        raise ParameterError(
            "holdback must be above 0: without rounds that play the control there is nothing to "
            "compare with. Choose a share such as 0.05"
        )
    return share


def limit_share(value: Any, name: str) -> float:
    """A share of what the control earns, checked.

    Parameters
    ----------
    value : float
        Above 0 and below 1.
    name : str
        The name of the argument, for the message.

    Returns
    -------
    float
        The share.

    Raises
    ------
    ParameterError
        If it is not such a number.
    """
    wanted = "a share of what the control earns, above 0 and below 1"
    return _checked_share(value, name, wanted, lambda share: 0.0 < share < 1.0)


def _checked_share(value: Any, name: str, wanted: str, is_right: Callable[[float], bool]) -> float:
    share = number(value, name)
    if not is_right(share):
        hint = f". If you mean {share:g} %, write {share / 100:g}" if is_right(share / 100) else ""
        raise ParameterError(f"{name} must be {wanted}, got {shown(value)}{hint}")
    return share


def is_held_back(key: str, id: int, share: float) -> bool:
    """Whether a trial plays the control: true with probability `share`, independently of all else.

    Parameters
    ----------
    key : str
        Identifies the tuner.
    id : int
        The number of the trial.
    share : float
        The share of trials that are held back.

    Returns
    -------
    bool
        The same in every process and for ever.

    Examples
    --------
    >>> sum(is_held_back("7", id, 0.05) for id in range(10_000))
    518
    """
    # The personalisation separates this stream from every other hash of the same key and id.
    return lot(key, id, b"holdback") < share
