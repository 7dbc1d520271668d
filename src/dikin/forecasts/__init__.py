"""What the next loss will be: forecasters that look at losses, a regression, and their mixture."""

from dikin.forecasts.mixture import (
    EQUAL,
    NONE,
    Forecasters,
    exp_near_zero,
    forecast,
    learn,
    mix,
    mixed,
    restart,
)
from dikin.forecasts.regression import Regression

__all__ = [
    "EQUAL",
    "NONE",
    "Forecasters",
    "Regression",
    "exp_near_zero",
    "forecast",
    "learn",
    "mix",
    "mixed",
    "restart",
]
