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
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dikin.domains.base import Domain

RANGE = 2.0
"""The whole range of the losses: what one loss varies by at most."""


class Account(NamedTuple):
    """Sums over a learner's rounds: all of the certificate that does not depend on e."""

    rounds: int  # T
    spent: float  # the second line of C_T
    held: float  # lambda_0 + sum_t lambda_t
    stiff: float  # kappa/eta_{T+1}, and all by which it was ever lowered

    def bound(self, domain: Domain, share: float, fall: float) -> float:
        """C_T for a share e, where f(0) exceeds f(u) by at most `fall`."""
        moved = fall * share * self.rounds + self.stiff * domain.barrier_growth(share)
        return moved + 0.5 * (1.0 - share) ** 2 * self.held + self.spent


class Part(NamedTuple):
    """The rounds of one learner as a part of a game, in the user's unit of loss."""

    account: Account
    schedule: Any  # the learner's, for a rate that depends on the number of rounds alone
    scale: float  # half the range of the losses, B

    def bound(self, domain: Domain, rounds: int, varies: float) -> float:
        """Their share of the bound for so many rounds, where a loss varies by at most `varies`."""
        fall = varies / (self.scale * (1.0 + domain.symmetry))
        price = self.schedule.kappa * domain.nu / self.schedule.typical(rounds)
        # e makes fall e T + price ln(1/e) least, for the range and eta known before the rounds.
        planned = RANGE / (1.0 + domain.symmetry) * rounds
        share = min(1.0, price / planned) if rounds else 1.0
        return self.scale * self.account.bound(domain, share, fall)
