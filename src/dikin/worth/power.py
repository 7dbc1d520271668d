from __future__ import annotations

from math import inf, sqrt
from statistics import NormalDist

from dikin.arguments import nonnegative, number, positive
from dikin.errors import ParameterError, shown
from dikin.worth.holdback import holdback_share
from dikin.worth.sums import ANSWERS, NARROWEST, best_product, mixture_factor


def rounds_to_see(
    gain: float,
    noise: float,
    holdback: float,
    *,
    explained: float = 0.0,
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Rounds until the interval of the uplift has left zero, with some probability.

    Forecasts and covariates that explain a share R² of the noise's variance leave 1 - R² of it, so
    they divide the number of rounds by about 1/(1 - R²).

    Parameters
    ----------
    gain : float
        The gain of a round, in the same unit as the noise, such as per cent of the value.
    noise : float
        The standard deviation of the value of a round.
    holdback : float
        The share of rounds that are held back.
    explained : float, default 0.0
        The share of the noise's variance that the guesses explain, R².
    power : float, default 0.8
        The probability to see it at that round.
    confidence : float, default 0.95
        That of the interval.

    Returns
    -------
    float
        The number of rounds, infinite without a gain.

    Examples
    --------
    >>> [round(rounds_to_see(2.0, 10.0, 0.05, explained=share)) for share in (0.0, 0.9)]
    [8608, 797]
    """
    share = holdback_share(holdback)
    if share == 0.0:
        raise ParameterError("holdback must be above 0: without the control nothing is compared")
    size, deviation = nonnegative(gain, "gain"), positive(noise, "noise")
    for value, name in ((explained, "explained"), (power, "power"), (confidence, "confidence")):
        if not 0.0 <= number(value, name) < 1.0:
            raise ParameterError(f"{name} must be at least 0 and below 1, got {shown(value)}")
    if size == 0.0:
        return inf
    round_variance = deviation**2 * (1.0 - explained) / (share * (1.0 - share))
    alpha, beyond = 1.0 - confidence, NormalDist().inv_cdf(power)
    scale = best_product(alpha) * share / (NARROWEST * round_variance)

    def is_enough(rounds: float) -> bool:
        spread = rounds * round_variance
        half = sqrt(mixture_factor(spread * scale, alpha) * spread)
        return half + beyond * sqrt(spread) <= rounds * size

    low = high = ANSWERS / share
    while not is_enough(high):
        low, high = high, 2.0 * high
    while high - low > 0.5:
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
