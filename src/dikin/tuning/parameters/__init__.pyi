# Written by `make stub`.

from dikin.tuning.parameters.integer import Integer as Integer
from dikin.tuning.parameters.levels import Levels as Levels
from dikin.tuning.parameters.real import Real as Real
from dikin.tuning.parameters.shares import Shares as Shares

__all__: list[str]
