"""Players of a loop with the limit `p99_ms <= bound`, in groups that differ, and their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np

import dikin
from evidence.rivals import KEEP, TUNER, PyCMA, Today, import_optional

PENALTY = 10.0
"""A penalty adds so many times the value for each 100 % above the bound, up to 100 %."""
PENALIZED, TPE_LIMIT = "dikin.Tuner, a penalty", "TPE, constraints (Optuna)"
TPE_PENALTY, CMA_PENALTY = "TPE, a penalty (Optuna)", "CMA-ES, a penalty (pycma)"
UCB_CODECS = "UCB1-Tuned over tuners, a penalty"


class TPE:
    """TPE of the package optuna with its own kinds of parameters, and with constraints."""

    def __init__(
        self, parameters: Mapping[str, Any], seed: int, limited: bool = False, start: bool = False
    ) -> None:
        optuna = import_optional("optuna")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        known = (lambda trial: trial.user_attrs["excess"]) if limited else None
        with catch_warnings():  # Optuna 5 would rather have `set_constraint`, which 4 lacks
            simplefilter("ignore", FutureWarning)
            sampler = optuna.samplers.TPESampler(seed=seed, constraints_func=known)
        self.study, self.parameters = optuna.create_study(sampler=sampler), parameters
        if start:
            self.study.enqueue_trial({name: each.start for name, each in parameters.items()})

    def ask(self) -> Any:
        """Return a trial of Optuna. Its settings are in `params`."""
        trial = self.study.ask()
        for name, each in self.parameters.items():
            if isinstance(each, dikin.Levels):  # a choice too
                trial.suggest_categorical(name, list(each.values))
            elif isinstance(each, dikin.Integer):
                trial.suggest_int(name, each.low, each.high, log=each.log)
            else:
                trial.suggest_float(name, each.low, each.high, log=each.log)
        return trial

    def tell(self, trial: Any, value: float, excess: Sequence[float] = ()) -> None:
        trial.set_user_attr("excess", [float(each) for each in excess])
        self.study.tell(trial, value)


class Chosen(NamedTuple):
    """A trial of one of several tuners."""

    choice: int
    trial: dikin.Trial
    params: dict[str, Any]


class Codecs:
    """UCB1-Tuned (Auer, Cesa-Bianchi and Fischer, 2002) over a tuner for each `codec`."""

    def __init__(self, parameters: Mapping[str, Any], seed: int) -> None:
        self.codecs = parameters["codec"].values
        others = {name: each for name, each in parameters.items() if name != "codec"}
        self.tuners = [dikin.Tuner(others, seed=seed + i) for i in range(len(self.codecs))]
        self.seen: list[list[float]] = [[] for _ in self.codecs]

    def ask(self) -> Chosen:
        t = sum(map(len, self.seen))
        choice = t if t < len(self.seen) else int(np.argmin([*map(self._score, self.seen)]))
        trial = self.tuners[choice].ask()
        return Chosen(choice, trial, {"codec": self.codecs[choice], **trial.params})

    def _score(self, values: list[float]) -> float:
        everything = np.concatenate(self.seen)
        scaled = np.array(values) / max(float(np.ptp(everything)), 1e-12)
        share = np.log(len(everything)) / len(values)
        most = min(0.25, float(scaled.var() + np.sqrt(2.0 * share)))
        return float(scaled.mean() - np.sqrt(share * most))

    def tell(self, trial: Chosen, value: float) -> None:
        self.seen[trial.choice].append(value)
        self.tuners[trial.choice].tell(trial.trial, value)


class Limited:
    """A player by its name.

    The tuner knows the context. A rival has a copy of itself for each group.
    """

    def __init__(
        self,
        player: str,
        parameters: Mapping[str, Any],
        bound: float,
        groups: Sequence[str],
        context: Mapping[str, Any],
        seed: int,
        rounds: int,
    ) -> None:
        self.player, self.bound = player, bound
        if player in (TUNER, PENALIZED):
            limits = [f"p99_ms <= {bound:g}"] if player == TUNER else []
            only = dikin.Tuner(parameters, context=context, limits=limits, seed=seed)
            self.each: dict[str, Any] = dict.fromkeys(groups, only)
            return
        self.each = {}
        for place, group in enumerate(groups):
            own = seed + 1000 * place
            if player in (KEEP, CMA_PENALTY):
                make = Today if player == KEEP else PyCMA
                self.each[group] = make(parameters, False, own, rounds // len(groups))
            elif player == UCB_CODECS:
                self.each[group] = Codecs(parameters, own)
            else:
                self.each[group] = TPE(parameters, own, player == TPE_LIMIT, start=True)

    def ask(self, group: str, context: Mapping[str, Any]) -> Any:
        """Return a trial, whose setting is in `params`."""
        player = self.each[group]
        return player.ask(context=context) if isinstance(player, dikin.Tuner) else player.ask()

    def tell(self, group: str, trial: Any, value: float, p99: float) -> None:
        player, excess = self.each[group], p99 / self.bound - 1.0
        if self.player == TUNER:
            player.tell(trial, value, metrics={"p99_ms": p99})
        elif self.player == TPE_LIMIT:
            player.tell(trial, value, [excess])
        else:
            player.tell(trial, value * (1.0 + PENALTY * min(max(excess, 0.0), 1.0)))
