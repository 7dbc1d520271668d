"""The certificate: how far its comparator is moved, and where it begins."""

from math import log

import numpy as np
import pytest

from dikin.theory.certificate import Account, Part
from paper.runs import SETS, build


class Cone:
    """A set whose barrier grows as nu ln(1/e), the most that any does."""

    nu, symmetry = 6.0, 0.5

    def barrier_growth(self, share: float) -> float:
        return self.nu * log(1 / share)


class ConstantRate:
    """A schedule whose rate is the same in every game."""

    kappa, eta = 1.5, 0.2

    def typical(self, rounds: int) -> float:
        return self.eta


@pytest.mark.parametrize("rounds", [20, 100, 10_000])
def test_the_share_of_the_centre_is_the_best_one_at_the_typical_rate(rounds: int) -> None:
    """Nothing but the two terms that depend on it, against shares on a fine grid."""
    domain, schedule = Cone(), ConstantRate()
    account = Account(rounds, spent=0.0, held=0.0, stiff=schedule.kappa / schedule.eta)
    fall = 2 / (1 + domain.symmetry)
    shares = np.geomspace(1e-6, 1.0, 100_001).tolist()
    best = min(account.bound(domain, share, fall) for share in shares)
    # At its least the bound is flat: a grid this fine is off by 1e-8 of it.
    bound = Part(account, schedule, scale=4.0).bound(domain, rounds, varies=8.0)
    assert bound == pytest.approx(4 * best, rel=1e-7)


def test_certificate_before_the_first_round_is_zero() -> None:
    for kind in ("smooth", "lipschitz"):
        assert build(kind, SETS["disc"]).certificate == 0.0
