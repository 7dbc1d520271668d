"""Objects from saved data: a domain from its description, a learner from its state."""

from __future__ import annotations

import os
from typing import Any

from dikin import serialization
from dikin.domains.base import DOMAINS, Domain
from dikin.errors import DikinError, StateError, shown
from dikin.learners.base import CANNOT_COMPUTE, LEARNERS
from dikin.tuning.tuner import Tuner


def load(path: str | os.PathLike[str]) -> Any:
    """Load the learner or tuner in a file that its `save` wrote. It continues bit for bit.

    Before a learner or domain of your own class is loaded, import the module that registers it
    (`dikin.register`).

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    Learner or Tuner
        An object of the saved class, with its open queries or trials.

    Raises
    ------
    StateError
        If the file is not a saved learner or tuner, is damaged, or was written by another version
        of dikin.
    ParameterError
        If the saved class is not known.
    """
    return restore(serialization.read(path))


def restore(state: dict[str, Any]) -> Any:
    """Make the learner or tuner of a state. It continues bit for bit.

    Parameters
    ----------
    state : dict
        The result of `Learner.state`, `Tuner.state` or `Study.state`.

    Returns
    -------
    Learner or Tuner
        An object of the saved class, with its open queries or trials.
    """
    try:
        if "tuner" in state:
            return Tuner.restore(state)
        cls = LEARNERS.find(state["learner"])
        return cls.restore(domain_from_spec(state["domain"]), state)
    except DikinError:
        raise
    except CANNOT_COMPUTE as reason:
        raise StateError(f"not the state of a learner or tuner: {reason!r}") from reason


def domain_from_spec(spec: dict[str, Any]) -> Domain:
    """Return the domain that `Domain.spec` described."""
    if not isinstance(spec, dict) or "kind" not in spec:
        raise StateError(
            "a domain is described by an object with its kind and arguments such as "
            f'{{"kind": "box", "lower": [0, 0], "upper": [10, 2]}}, got {shown(spec)}'
        )
    try:
        arguments = {key: _revived(value) for key, value in spec.items() if key != "kind"}
        cls = DOMAINS.find(spec["kind"])
        return cls(*arguments.pop("parts", ()), **arguments)
    except (AttributeError, KeyError, TypeError) as reason:
        raise StateError(f"not a description of a domain: {shown(spec)} ({reason})") from reason


def _revived(value: Any) -> Any:
    if isinstance(value, list):
        return [_revived(part) for part in value]
    return domain_from_spec(value) if isinstance(value, dict) else value
