"""Kinds of parameters."""

from dikin.tuning.parameters.integer import Integer
from dikin.tuning.parameters.levels import Choice, Levels
from dikin.tuning.parameters.real import Real
from dikin.tuning.parameters.shares import Shares

__all__ = ["Choice", "Integer", "Levels", "Real", "Shares"]
