"""Tuners that version 8 has saved, as those of today."""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np

from dikin import serialization
from dikin.rng import named_key
from dikin.tuning.space import Space
from dikin.tuning.tuner import Tuner

VERSION = 8
"""The version of states that is converted."""

logger = logging.getLogger("dikin")


def converted_state(state: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the state of today's tuner for one that version 8 has saved.

    What it has learnt is not in it but for its best setting, so it learns anew, from there.
    """
    if version != VERSION or "tuner" not in state:
        serialization.refuse_version("this state", version, serialization.VERSION)
    tuner = earlier_tuner(state)
    found = tuner.state() | {
        "rounds": state["rounds"],
        "asked": state["learner"]["next"],
        "next": state["learner"]["next"],
        "paused": state["held"],
        "key": named_key(str(state["key"]), json.dumps(tuner.space.spec())),
    }
    known = {id: (covariates, context) for id, covariates, context in state["known"]}
    for id, point, expected, held, *arm in state["open"]:
        covariates, context = known.get(id, ({}, {}))
        told = {"expected": expected, "held": held, "held_back": bool(arm and arm[0])}
        asked = {"point": point, "covariates": covariates, "context": context}
        found["open"][str(id)] = earlier_fact(tuner, asked, told)
    domain, numbers = state["learner"]["domain"], state["learner"]["numbers"]["items"]
    if domain["kind"] == "box" and not tuner.space.options and not tuner.contexts.size:
        size = len(domain["lower"])
        best = [min(max(x, -0.98), 0.98) for x in numbers["iterate"]["array"][:size]]
        for place in found["search"]["places"]:
            place["y"] = best if len(place["y"]) == size else place["y"]
    logger.warning(
        "a tuner of version 8 with %d rounds was converted: %r. Its file has no rows to learn "
        "from, so it learns anew, where the file has its best setting from there",
        state["rounds"],
        tuner,
    )
    return found


def earlier_tuner(state: dict[str, Any]) -> Tuner:
    """Return a new tuner with the arguments of an old one."""
    space, learner = Space.from_spec(state["tuner"]), state["learner"]["arguments"]
    maximize, contexts = bool(state["tuner"]["maximize"]), state["contexts"] or {}
    ends, compared = learner["loss_range"], state["comparison"]
    if ends is not None and maximize:
        ends = [-ends[1], -ends[0]]
    options: dict[str, Any] = {}
    if compared is not None:
        control = space.params(np.array(compared["control"], dtype=float))
        guard = compared["guard"] and compared["guard"]["limit"]
        holdback = compared["estimate"]["holdback"]
        options = {"holdback": holdback, "control": control, "guard": guard}
    gone = {
        "separable": state["tuner"].get("separable") or None,
        "memory": None if learner["memory"] == "auto" else learner["memory"],
        "budget": compared and compared.get("budget"),
    }
    for name, value in gone.items():
        if value is not None:
            logger.warning("the option %s=%s of a tuner of version 8 is left out", name, value)
    declared = {name: kind for name, kind in state["declared"].items() if name not in contexts}
    return Tuner(
        space.parameters,
        constraints=space.constraints,
        maximize=maximize,
        context=contexts or None,
        covariates=declared or None,
        value_range=None if ends is None else tuple(ends),
        smoothness=learner["smoothness"],
        lipschitz=learner["lipschitz"],
        **options,
    )


def earlier_fact(tuner: Tuner, asked: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a trial from the rows that asked and told it."""
    held = bool(told.get("held"))
    fact = {
        "point": asked["point"],
        "expected": told.get("expected"),
        "paused": held,
        "covariates": plain_values(asked.get("covariates")),
        "context": plain_values(asked.get("context")),
        "held_back": bool(told.get("held_back")),
        "play": None,
        "center": told.get("center", asked["point"]),
    }
    if tuner.comparison is not None:
        control = told.get("expected_control")
        fact |= {"by_coin": None if held else True, "control": control}
    return fact


def plain_values(values: Any) -> dict[str, Any]:
    """Return contexts or covariates as they are written today."""
    found: dict[str, Any] = (values or {}).get("items", values or {})
    return found
