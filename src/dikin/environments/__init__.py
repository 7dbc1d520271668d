"""Adversaries: environments that fix every loss before the game begins."""

from dikin.environments.fromfunction import FromFunction
from dikin.environments.kink import Distance, Kink, PseudoKink
from dikin.environments.linear import Linear
from dikin.environments.quadratic import Quadratic
from dikin.environments.ridge import Ridge
from dikin.environments.wrappers import Shifted, Understated

__all__ = [
    "Distance",
    "FromFunction",
    "Kink",
    "Linear",
    "PseudoKink",
    "Quadratic",
    "Ridge",
    "Shifted",
    "Understated",
]
