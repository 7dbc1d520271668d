"""From a saved state back to a living learner."""

from __future__ import annotations

import os
from typing import Any

from dikin import registry, storage
from dikin.domains.base import Domain
from dikin.errors import DikinError, StateError
from dikin.learners.base import Learner


def load(path: str | os.PathLike[str], domain: Domain | None = None) -> Learner:
    """The learner in a file that `Learner.save` wrote; it continues bit for bit.

    Give the `domain` again if it was made of Python functions.
    """
    return restore(storage.read(path), domain)


def restore(state: dict[str, Any], domain: Domain | None = None) -> Learner:
    """The learner whose `state()` this is."""
    try:
        cls = registry.find(state["learner"], registry.learners(), "learner")
        if domain is None:
            domain = registry.domain_from_spec(state["domain"])
        return cls.restore(domain, state)
    except DikinError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as reason:
        raise StateError(f"not the state of a learner: {reason!r}") from reason
