"""The arguments of a tuner, checked before it is built."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from dikin.arguments import is_whole
from dikin.errors import ParameterError, shown
from dikin.tuning.contexts import Contexts
from dikin.tuning.space import Space
from dikin.units import checked_range


def with_contexts(covariates: Any, contexts: Contexts | None) -> Any:
    """Declared covariates and contexts: what chooses a setting explains noise too."""
    if contexts is None:
        return covariates
    both = set(contexts.parts) & set(covariates if isinstance(covariates, Mapping) else ())
    if both:
        raise ParameterError(
            f"{shown(min(both))} is declared as a context and as a covariate: a context is a "
            "covariate as well, leave it out there"
        )
    return contexts.covariates() | (covariates or {})


def either_range(value_range: Any, loss_range: Any) -> Any:
    """The range of values, by its name or by its former one: one of the two at most."""
    if value_range is not None and loss_range is not None:
        raise ParameterError(
            f"value_range={shown(value_range)} and loss_range={shown(loss_range)} are the same "
            "argument: leave out loss_range, its former name"
        )
    return loss_range if value_range is None else value_range


def range_of_losses(value_range: Any, maximize: bool) -> tuple[float, float] | None:
    """A range of values as one of losses."""
    if value_range is None:
        return None
    low, high = checked_range(value_range, "value")
    return (-high, -low) if maximize else (low, high)


def count_instead_of_context(context: Any, n: Any) -> tuple[Any, Any]:
    """Take a whole number in the place of the context for `n`; deprecated."""
    if n is not None or not is_whole(context):
        return context, n
    warnings.warn(f"ask({context}) is now ask(n={context})", DeprecationWarning, stacklevel=3)
    return None, context


def refuse_smooth_corners(space: Space, smoothness: Any) -> None:
    """Refuse a constant that cannot hold: between whole numbers values have corners."""
    for name, parameter in space.parameters.items():
        if parameter.has_corners and smoothness is not None:
            raise ParameterError(
                f"smoothness={shown(smoothness)} cannot hold with {name}, {parameter!r}: mean "
                "values have corners there, as between whole numbers. Give lipschitz instead, "
                "or neither"
            )
