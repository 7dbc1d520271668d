"""Kinds of parameters, one file per kind."""

from dikin.tuning.parameters.choice import Choice
from dikin.tuning.parameters.integer import Integer
from dikin.tuning.parameters.levels import Levels
from dikin.tuning.parameters.real import Real
from dikin.tuning.parameters.shares import Shares

__all__ = ["Choice", "Integer", "Levels", "Real", "Shares"]
