"""The corollaries and the two tables: what the theorems say of particular curvature patterns.

Each corollary is its expression inside O~, logarithms and constants dropped, with nu = O(d) as in
the paper. Behind all of them stand two prices, with k and target as in `schedules`:

    n rounds without curvature        (target n^k)^(1/(k+1))
    n rounds of curvature sigma each  (target/sigma)^(1/k) n^((k-1)/k)

For smooth losses d sqrt(nu T), the price of the barrier, is added. The Lipschitz corollaries leave
out the d^(4/3) nu T^(1/3) of their theorem, as the paper does.

The proofs of Corollaries 10 and 15 end with bounds that are smaller than the corollaries as stated:
`flat_first_proved` and `flat_last_proved`. `most_flat_first`, `most_flat_last` and `most_discarded`
say how many flat rounds leave the rate as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dikin.errors import ParameterError
from dikin.theory.schedules import LIPSCHITZ, SMOOTH, Setting

STATEMENTS = {
    SMOOTH: (
        "cor: only-smooth",
        "cor: strongly-convex-smooth",
        "cor: worst-best-case",
        "cor: intermediate-case",
    ),
    LIPSCHITZ: (
        "cor: only-Lipschitz",
        "cor: only-Lipschitz-strongly-cvx",
        "cor: only-lipschitz-worst-best-case",
        "cor: only-lipschitz-intermediate-case",
    ),
}
"""The corollaries' labels in the paper's source: no curvature, constant, some flat, decaying."""


# --- the corollaries ---------------------------------------------------------------------------


def flat(setting: Setting, horizon: float) -> float:
    """Corollaries 8 (cor: only-smooth) and 13 (cor: only-Lipschitz): sigma_t = 0.

    Parameters
    ----------
    setting : Setting
        The setting.
    horizon : float
        The number of rounds T.

    Returns
    -------
    float
        The expression inside O~.
    """
    return _barrier(setting, horizon) + _flat(setting, horizon)


def curved(setting: Setting, horizon: float, sigma: float) -> float:
    """Corollaries 9 (cor: strongly-convex-smooth), 14 (cor: only-Lipschitz-strongly-cvx).

    The curvature of all rounds is sigma_t = sigma.

    Parameters
    ----------
    setting, horizon
        As for `flat`.
    sigma : float
        The strong convexity of the curved rounds; positive.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive.
    """
    return _barrier(setting, horizon) + _curved(setting, horizon, sigma)


def flat_first(setting: Setting, horizon: float, sigma: float, rounds: float) -> float:
    """Corollaries 10 (cor: worst-best-case), 15 (cor: only-lipschitz-worst-best-case), first bound.

    Some rounds have no curvature. They may come at any time; first is the worst.

    Parameters
    ----------
    setting, horizon, sigma
        As for `curved`.
    rounds : float
        How many of the rounds have no curvature.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or `rounds` not between 0 and the horizon.
    """
    _check_rounds(rounds, horizon)
    mixed = _flat(setting, rounds) + _curved(setting, horizon - rounds, sigma)
    return _barrier(setting, horizon) + mixed


def flat_last(setting: Setting, horizon: float, sigma: float, rounds: float) -> float:
    """Corollaries 10 (cor: worst-best-case), 15 (cor: only-lipschitz-worst-best-case), the second.

    The last rounds have no curvature.

    Parameters
    ----------
    setting, horizon, sigma, rounds
        As for `flat_first`.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or not one round is curved.
    """
    _check_rounds(rounds, horizon)
    early = horizon - rounds
    if not early > 0:
        raise ParameterError(
            f"rounds is {rounds} of {horizon} rounds; wanted at least one curved one."
        )
    # Every round at the price of a curved one: what the first rounds gathered lasts to the end.
    return _barrier(setting, horizon) + horizon / early * _curved(setting, early, sigma)


# --- Corollaries 10 and 15 as their proofs end -------------------------------------------------


def flat_first_proved(setting: Setting, horizon: float, sigma: float, rounds: float) -> float:
    """Corollaries 10 (cor: worst-best-case), 15 (cor: only-lipschitz-worst-best-case), as proved.

    The first bound, as its proof in the appendix ends. The curved rounds need not cost more than
    they would under the regularisation that the flat rounds need anyway, lambda*_1 = (target
    M^k)^(1/(k+1)): (T - M) (target/lambda*_1)^(1/k). That is the smaller price where sigma is
    small.

    Parameters
    ----------
    setting, horizon, sigma, rounds
        As for `flat_first`.

    Returns
    -------
    float
        The expression inside O~: at most `flat_first`.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or `rounds` not between 0 and the horizon.
    """
    _check_rounds(rounds, horizon)
    curved_rounds = horizon - rounds
    price = _curved(setting, curved_rounds, sigma)
    regularisation = _flat(setting, rounds)  # lambda*_1 is what the flat rounds cost
    if regularisation > 0:
        price = min(price, curved_rounds * (setting.target / regularisation) ** (1 / setting.order))
    return _barrier(setting, horizon) + regularisation + price


def flat_last_proved(setting: Setting, horizon: float, sigma: float, rounds: float) -> float:
    """Corollaries 10 (cor: worst-best-case), 15 (cor: only-lipschitz-worst-best-case), as proved.

    The second bound, as its proof in the appendix ends: the smaller one of the stated bound and of
    sigma (T - M), more than all the curvature that there is, plus the price of T flat rounds. So it
    stays finite where not one round is curved.

    Parameters
    ----------
    setting, horizon, sigma, rounds
        As for `flat_first`.

    Returns
    -------
    float
        The expression inside O~: at most `flat_last`.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or `rounds` not between 0 and the horizon.
    """
    _check_rounds(rounds, horizon)
    early = horizon - rounds
    gathered = _barrier(setting, horizon) + _flat(setting, horizon) + _checked(sigma) * early
    return min(gathered, flat_last(setting, horizon, sigma, rounds)) if early > 0 else gathered


def discarding(setting: Setting, horizon: float, sigma: float, rounds: float) -> float:
    """The naive method: discard the flat rounds and play the others as Corollaries 9 and 14 do.

    A round that is discarded may cost a constant. The paper says only how many rounds the naive
    method tolerates (after Corollaries 10 and 15); the formula is what that remark rests on, with
    the bound of the paper's own algorithm for the curved rounds.

    Parameters
    ----------
    setting, horizon, sigma, rounds
        As for `flat_first`.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or `rounds` not between 0 and the horizon.
    """
    _check_rounds(rounds, horizon)
    return rounds + curved(setting, horizon - rounds, sigma)


def most_flat_first(setting: Setting, horizon: float, sigma: float) -> float:
    """The most flat rounds, wherever they come, that leave the rate as it is: T^(3/4), T^(8/9).

    The M whose price in Corollaries 10 and 15, (target M^k)^(1/(k+1)), is the bound of Corollaries
    9 and 14 for a game in which every round is curved. Up to there `flat_first` is at most twice
    that bound. Without the barrier M = (target/sigma^(k+1))^(1/k^2) T^(1 - 1/k^2): the paper's
    O(T^(3/4)) for smooth and O(T^(8/9)) for Lipschitz losses.

    Parameters
    ----------
    setting, horizon, sigma
        As for `curved`.

    Returns
    -------
    float
        A number of rounds; the horizon, if all rounds may be flat.

    Raises
    ------
    ParameterError
        If `sigma` is not positive.
    """
    k = setting.order
    price = curved(setting, horizon, sigma)
    return min(float(horizon), float((price ** (k + 1) / setting.target) ** (1 / k)))


def most_flat_last(setting: Setting, horizon: float, sigma: float) -> float:
    """The most flat rounds at the end that leave the rate as it is: a constant fraction of T.

    The M at which `flat_last` is twice the bound of Corollaries 9 and 14 for a game in which every
    round is curved; in the paper "any constant fraction". Without the barrier M = (1 - 2^-k) T.

    Parameters
    ----------
    setting, horizon, sigma
        As for `curved`.

    Returns
    -------
    float
        A number of rounds; less than the horizon.

    Raises
    ------
    ParameterError
        If `sigma` is not positive.
    """
    # flat_last is barrier + (T/(T - M))^(1/k) price, as an early round costs what a late one does.
    spare = 2 + _barrier(setting, horizon) / _curved(setting, horizon, sigma)
    return float(horizon * (1 - spare**-setting.order))


def most_discarded(setting: Setting, horizon: float, sigma: float) -> float:
    """The most flat rounds that may be discarded without harm to the rate: T^(1/2), T^(2/3).

    As many as the bound of Corollaries 9 and 14 for a game in which every round is curved; the
    paper's O~(sqrt(T)) for smooth and O~(T^(2/3)) for Lipschitz losses. Up to there `discarding` is
    at most twice that bound.

    Parameters
    ----------
    setting, horizon, sigma
        As for `curved`.

    Returns
    -------
    float
        A number of rounds; the horizon, if all rounds may be discarded.

    Raises
    ------
    ParameterError
        If `sigma` is not positive.
    """
    return min(float(horizon), curved(setting, horizon, sigma))


# --- Corollaries 11 and 16 -----------------------------------------------------------------------


def decaying(setting: Setting, horizon: float, alpha: float) -> float:
    """Corollaries 11 (cor: intermediate-case) and 16 (cor: only-lipschitz-intermediate-case).

    The curvature falls as sigma_t = t^-alpha.

    Parameters
    ----------
    setting, horizon
        As for `flat`.
    alpha : float
        How fast the curvature falls, from 0 to 1.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `alpha` is not in [0, 1].
    """
    _check_alpha(alpha)
    # The paper's two cases meet where they are equal, so the smaller one is its case distinction;
    # it also covers target > T, where the paper's first range of alpha is empty.
    price = setting.target ** (1 / setting.order) * horizon ** (1 - (1 - alpha) / setting.order)
    return _barrier(setting, horizon) + min(float(price), _flat(setting, horizon))


# --- the two tables ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Rate:
    """One row of a table: regret O~(d^dim_exponent T^horizon_exponent) under a pattern.

    Parameters
    ----------
    pattern : str
        The curvature of the rounds, in words.
    horizon_exponent : float
        The exponent of the number of rounds T.
    dim_exponent : float
        The exponent of the dimension d.
    statement : str
        The label of the corollary in the paper's source.
    """

    pattern: str
    horizon_exponent: float
    dim_exponent: float
    statement: str


def decaying_exponent(order: int, alpha: float) -> float:
    """Exponent of T in Corollaries 11 and 16; its kink is at alpha = 1/(k+1).

    Parameters
    ----------
    order : int
        The k of the setting: `schedules.SMOOTH` or `schedules.LIPSCHITZ`.
    alpha : float
        How fast the curvature falls, from 0 to 1.

    Returns
    -------
    float
        The exponent of T.

    Raises
    ------
    ParameterError
        If `alpha` is not in [0, 1].
    """
    _check_alpha(alpha)
    return min((order - 1 + alpha) / order, order / (order + 1))


def table(order: int, alphas: Iterable[float]) -> tuple[Rate, ...]:
    """Table 1 (tab: res_smooth) or 2 (tab: res_lipschitz), with a row for each decay t^-alpha.

    Parameters
    ----------
    order : int
        The k of the setting: `schedules.SMOOTH` for Table 1, `schedules.LIPSCHITZ` for Table 2.
    alphas : iterable of float
        The decays t^-alpha for which a row is wanted, each from 0 to 1.

    Returns
    -------
    tuple of Rate
        The rows, in the order of the paper.
    """
    zero, constant, some_flat, decay = STATEMENTS[order]
    square = order**2
    flat_dim = 2 / (order + 1)
    curved_dim = 3 / 2 if order == SMOOTH else 2 / order  # the barrier's exceeds 2/2
    curved_horizon = (order - 1) / order
    return (
        Rate("zero", order / (order + 1), flat_dim, zero),
        Rate("constant", curved_horizon, curved_dim, constant),
        Rate(f"first T^({square - 1}/{square}) flat", curved_horizon, curved_dim, some_flat),
        Rate("second half flat", curved_horizon, curved_dim, some_flat),
        *(
            Rate(
                f"decaying t^-{alpha:.3g}",
                decaying_exponent(order, alpha),
                curved_dim if alpha < 1 / (order + 1) else flat_dim,
                decay,
            )
            for alpha in alphas
        ),
    )


# --- the prices --------------------------------------------------------------------------------


def _barrier(setting: Setting, horizon: float) -> float:
    """Price of the barrier, d sqrt(nu T), with nu = d; the Lipschitz corollaries leave it out."""
    if setting.order != SMOOTH:
        return 0.0
    return float(setting.dim**1.5 * horizon**0.5)


def _flat(setting: Setting, rounds: float) -> float:
    return float((setting.target * rounds**setting.order) ** (1 / (setting.order + 1)))


def _curved(setting: Setting, rounds: float, sigma: float) -> float:
    power = 1 / setting.order
    return float((setting.target / _checked(sigma)) ** power * rounds ** (1 - power))


def _checked(sigma: float) -> float:
    if not sigma > 0:
        raise ParameterError(f"sigma is {sigma}; wanted a positive number.")
    return sigma


def _check_alpha(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise ParameterError(f"alpha is {alpha}; wanted a number in [0, 1].")


def _check_rounds(rounds: float, horizon: float) -> None:
    if not 0 <= rounds <= horizon:
        raise ParameterError(
            f"rounds is {rounds}; wanted between 0 and the {horizon} rounds played."
        )
