"""The state of a learner as JSON values, and the learner of a state.

A query's memo is saved as it is: nested tuples, arrays and numbers. Lists come back as tuples.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from dikin import serialization
from dikin.domains.base import Domain, Geometry
from dikin.errors import StateError
from dikin.learners import range_search
from dikin.learners.noise import Noise
from dikin.learners.units import LossRange
from dikin.open_queries import Query
from dikin.players import Player, locked
from dikin.silence import silence


class Saved(Player[Query]):
    """A player whose state is the attributes in `kept`, beside what all learners have."""

    kept: ClassVar[tuple[str, ...]] = ()
    parameters: ClassVar[dict[str, Any]]
    domain: Domain
    geometry: Geometry
    loss_range: LossRange
    rounds: int
    _noise: Noise
    _search: Any

    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments except the domain and the seed, as JSON values."""
        declared = {
            name: getattr(self, name) for name in self.parameters.keys() - {"domain", "seed"}
        }
        ends = None if self.loss_range is None else list(self.loss_range)
        return declared | {"loss_range": ends}

    def _numbers(self) -> dict[str, Any]:
        """The state of the mathematics, as nested tuples, arrays and numbers."""
        return {name.lstrip("_"): getattr(self, name) for name in self.kept}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        """Take over the result of `_numbers`."""
        for name in self.kept:
            setattr(self, name, numbers[name.lstrip("_")])

    @locked
    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values, open queries included.

        Returns
        -------
        dict
            The argument of `dikin.restore`, which makes the same learner from it.
        """
        state: dict[str, Any] = {
            "learner": self.kind,
            "domain": self.domain.spec(),
            "size": self.geometry.size,
            "arguments": self.arguments(),
            "rounds": self.rounds,
            "next": self._open.next_id,
            "generator": self._noise.state(),
            "numbers": serialization.encode(self._numbers()),
            "open": [],
        }
        for id, (query, memo) in self._open.items():
            known = () if memo is range_search.STALE else (memo,)
            state["open"].append(serialization.encode((id, query.point, *known)))
        return state if self._search is None else state | self._search.state(self)

    @classmethod
    def restore(cls, domain: Domain, state: dict[str, Any]) -> Self:
        """Make the learner of a `state`, with the same future.

        Parameters
        ----------
        domain
            The set of the saved learner.
        state
            The result of `state`.

        Returns
        -------
        Learner
            A learner of this class.

        Raises
        ------
        StateError
            If the state is of another domain.
        """
        searches = "range" in state  # for the time being it is built for its present range
        arguments = state["arguments"] | ({"loss_range": state["range"]} if searches else {})
        make: Any = cls
        with silence():  # it was warned of when it was built
            learner = make(domain, **arguments)
        if state["size"] != learner.geometry.size:
            raise StateError(f"the state was saved on another domain than {domain}")
        if searches:
            range_search.restore(learner, state)
        learner.rounds, learner._open.next_id = int(state["rounds"]), int(state["next"])
        learner._noise.restore(state["generator"])
        if cls.__module__.partition(".")[0] == "dikin":  # one's own may have a form that changes
            form = serialization.encode(learner._numbers())
            serialization.refuse_other_form(state["numbers"], form, "numbers", finite=False)
        learner._set_numbers(serialization.decode(state["numbers"]))
        for item in state["open"]:
            serialization.refuse_other_form(item, None, "an open query")
            id, point, *memo = serialization.decode(item)
            point.setflags(write=False)
            learner._open[id] = Query(id, point), memo[0] if memo else range_search.STALE
        float(learner.certificate)  # computed once, as it is made of many numbers of the state
        restored: Self = learner
        return restored
