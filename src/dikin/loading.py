"""From a saved state back to a living learner."""

from __future__ import annotations

import os
from typing import Any

from dikin import registry, storage
from dikin.domains.base import Domain
from dikin.errors import DikinError, NotSavableError, StateError
from dikin.learners.base import Learner


def load(path: str | os.PathLike[str], domain: Domain | None = None) -> Learner:
    """The learner in a file that `Learner.save` wrote; it continues bit for bit.

    Give the `domain` again if it was made of Python functions. Before a learner or domain of your
    own class is loaded, import the module that registers it (`dikin.register`).
    """
    return restore(storage.read(path), domain)


def _domain(spec: dict[str, Any] | None, given: Domain | None) -> Domain:
    """The saved domain, or the given one if it is the same or the saved one was not writable."""
    if spec is None:
        if given is None:
            raise NotSavableError(
                "this learner's domain is made of Python functions, which are never written to a "
                "file: give it again, as in dikin.load(path, domain=...)"
            )
        return given
    if given is None:
        return registry.domain_from_spec(spec)
    try:
        same = given.spec() == spec
    except NotSavableError:
        same = False
    if not same:
        raise StateError(f"the state was saved on another domain than {given}")
    return given


def restore(state: dict[str, Any], domain: Domain | None = None) -> Learner:
    """The learner whose `state()` this is."""
    try:
        cls = registry.find(state["learner"], registry.learners(), "learner")
        return cls.restore(_domain(state["domain"], domain), state)
    except DikinError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as reason:
        raise StateError(f"not the state of a learner: {reason!r}") from reason
