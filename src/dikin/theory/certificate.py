"""The certificate: a bound on the regret that is known while the learner plays.

In the paper's units, with y_m the centre at which the query of round t was asked, tau_t = tr(H^-1)
there and, at a number e in (0, 1] that depends on T alone, E[regret] <= E[C_T],

    C_T = 2 e T/(1 + s) + kappa growth(e)/eta_{T+1} + (1 - e)^2 (lambda_0 + sum_t lambda_t)/2
          + sum_t [g_t.y_m + a_t - lambda_t/2 |y_m|^2] - F_{T+1}(y_{T+1}),

    F_{T+1}(x) = sum_t [g_t.x + (sigma_t + lambda_t)/2 |x - y_m|^2]
                 + lambda_0/2 |x|^2 + kappa (psi(x) - psi(0))/eta_{T+1},

    smooth:     a_t = (beta/2) tau_t/d + ((beta - sigma_t)/2) tau_t/(d+2)
    Lipschitz:  a_t = L sqrt(tau_t/d) - (sigma_t/2) tau_t/(d+2).

where growth(e), at most nu ln(1/e), is the largest psi((1 - e) u) - psi(0) of the set, and s its
symmetry, as f(0) - f(u) <= (f(-s u) - f(u))/(1 + s).
`docs/mathematics.md` has the proof. The prices are plain arithmetic on numbers, so that a compiled
loop can run the very same source.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from dikin.domains.base import Domain
from dikin.kernel import compilable

RANGE = 2.0
"""The whole range of the losses: what one loss varies by at most."""


@compilable
def smooth_price(sigma: float, trace: float, dim: float, smoothness: float) -> float:
    """Price a_t for beta-smooth losses: of exploring, and of the gradient of a smoothed loss.

    Parameters
    ----------
    sigma : float
        The strong convexity sigma_t that was told.
    trace : float
        The trace tau_t of H^-1 at the centre of the query.
    dim : float
        The dimension d.
    smoothness : float
        The smoothness beta; not negative.

    Returns
    -------
    float
        The price a_t, in the paper's units.
    """
    exploring = smoothness / dim
    smoothing = (smoothness - sigma) * (1.0 / (dim + 2.0))
    return 0.5 * trace * (exploring + smoothing)


@compilable
def lipschitz_price(sigma: float, trace: float, dim: float, lipschitz: float) -> float:
    """Price a_t for L-Lipschitz losses.

    Parameters
    ----------
    sigma, trace, dim : float
        As for `smooth_price`.
    lipschitz : float
        The Lipschitz constant L; not negative.

    Returns
    -------
    float
        The price a_t, in the paper's units.
    """
    return lipschitz * sqrt(trace * (1.0 / dim)) - 0.5 * sigma * trace * (1.0 / (dim + 2.0))


def comparator_share(rounds: int, fall: float, price: float) -> float:
    """The e in (0, 1] that makes fall e T + price ln(1/e) least.

    Parameters
    ----------
    rounds : int
        The number of rounds T.
    fall : float
        The most by which f(0) exceeds f(u); positive.
    price : float
        kappa nu/eta for an eta near eta_{T+1} that depends on T alone, as e must.

    Returns
    -------
    float
        The share e; 1 for no rounds.
    """
    return min(1.0, price / (fall * rounds)) if rounds else 1.0


class Account(NamedTuple):
    """What a learner's rounds came to: all of the certificate that does not depend on e.

    Parameters
    ----------
    rounds : int
        The number of rounds T.
    spent : float
        The second line of C_T.
    held : float
        The regularisation lambda_0 + sum_t lambda_t.
    stiff : float
        The barrier's weight kappa/eta_{T+1}, and all by which it was ever lowered.
    """

    rounds: int
    spent: float
    held: float
    stiff: float

    def bound(self, domain: Domain, share: float, fall: float) -> float:
        """The certificate C_T.

        Parameters
        ----------
        domain : Domain
            The set that was played on.
        share : float
            The share e in (0, 1].
        fall : float
            The most by which f(0) exceeds f(u).

        Returns
        -------
        float
            A bound on the expected regret, in the paper's units.
        """
        moved = fall * share * self.rounds + self.stiff * domain.barrier_growth(share)
        return moved + 0.5 * (1.0 - share) ** 2 * self.held + self.spent


class Part(NamedTuple):
    """The rounds of one learner as a part of a game, in the user's unit of loss.

    Parameters
    ----------
    account : Account
        What the rounds came to.
    schedule : Schedule
        The learner's, for a rate that depends on the number of rounds alone.
    scale : float
        Half the range of the losses, B.
    """

    account: Account
    schedule: Any
    scale: float

    def bound(self, domain: Domain, rounds: int, varies: float) -> float:
        """The certificate C_T of these rounds, as some of a game's.

        Parameters
        ----------
        domain : Domain
            The set that was played on.
        rounds : int
            The rounds of the whole game.
        varies : float
            The most by which one loss varies on the domain, in the user's unit.

        Returns
        -------
        float
            Their share of a bound on the expected regret, in the user's unit.
        """
        fall = varies / (self.scale * (1.0 + domain.symmetry))
        price = self.schedule.kappa * domain.nu / self.schedule.typical(rounds)
        # By the width of this range, which is known before its rounds are played.
        share = comparator_share(rounds, RANGE / (1.0 + domain.symmetry), price)
        return self.scale * self.account.bound(domain, share, fall)
