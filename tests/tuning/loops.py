"""The loop that tests of a tuner share: ask, measure with noise, tell."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import dikin

Params = dict[str, Any]


def run(
    tuner: dikin.Tuner,
    rounds: int,
    measure: Callable[[Params, int], float | dict[str, Any]],
    *,
    noise: float = 0.0,
    seed: int = 1,
    known: Callable[[int], Mapping[str, Any]] = lambda t: {},
) -> list[dikin.Trial]:
    """Return the trials. `measure` gives a value, or the arguments of `tell`, for a setting."""
    rng, trials = np.random.default_rng(seed), []
    for t in range(rounds):
        trials.append(trial := tuner.ask(**known(t)))
        found = measure(trial.params, t)
        answer: dict[str, Any] = found if isinstance(found, dict) else {"value": found}
        if noise and not answer.get("failed"):
            answer["value"] += noise * rng.standard_normal()
        tuner.tell(trial, **answer)
    return trials


def restored(tuner: dikin.Tuner) -> dikin.Tuner:
    """Return the tuner of a state that JSON has read."""
    found = dikin.restore(json.loads(json.dumps(tuner.state())))
    assert isinstance(found, dikin.Tuner)
    return found
