"""The old name of `dikin.theory.schedules`."""

import warnings

from dikin.theory.schedules import *  # noqa: F403

warnings.warn("dikin.theory.tuning is now dikin.theory.schedules", DeprecationWarning, stacklevel=2)
