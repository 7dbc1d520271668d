"""The coin: its share, its independence, and what is refused."""

import hashlib
from math import comb, exp, nan, sqrt
from typing import Any

import numpy as np
import pytest

from dikin.errors import ParameterError
from dikin.worth.holdback import evidence, holdback_share, is_held_back, lost_answers

COUNT = 20_000


@pytest.mark.parametrize("share", [0.02, 0.05, 0.5])
@pytest.mark.parametrize("key", ["7", "0123456789abcdef"])
def test_the_share_is_as_asked(share: float, key: str) -> None:
    """Six standard deviations: fails by chance less than once in 10^8 keys."""
    held = sum(is_held_back(key, id, share) for id in range(COUNT))
    assert abs(held - share * COUNT) < 6 * sqrt(COUNT * share * (1 - share))


def lot(key: str, id: int) -> float:
    """Another hash of the same key and id."""
    digest = hashlib.blake2b(f"{key}/{id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2.0**64


def test_the_coin_is_independent_of_lots_of_other_keys_and_of_the_round_before() -> None:
    """Correlations of 20 000 coins: six standard deviations, less than once in 10^8 each."""
    coins = np.array([is_held_back("7", id, 0.5) for id in range(COUNT)], dtype=float)
    lots = np.array([lot("7", id) for id in range(COUNT)])
    other = np.array([is_held_back("8", id, 0.5) for id in range(COUNT)], dtype=float)
    for against in (lots, other, np.roll(coins, 1)):
        assert abs(np.corrcoef(coins, against)[0, 1]) < 6 / sqrt(COUNT)
    assert abs(np.corrcoef(lots < 0.5, lots)[0, 1]) > 6 / sqrt(COUNT)  # mutant: the lots' stream


def test_a_coin_is_the_same_for_ever() -> None:
    digest = hashlib.blake2b(b"7/3", digest_size=8, person=b"holdback").digest()
    uniform = (int.from_bytes(digest, "big") >> 11) / 2.0**53
    assert not is_held_back("7", 3, uniform)
    assert is_held_back("7", 3, float(np.nextafter(uniform, 1)))
    assert [id for id in range(137) if is_held_back("7", id, 0.05)] == [30, 65, 102, 131, 136]


@pytest.mark.parametrize("value", [-0.01, 0.51, 5, nan, "0.05", None, True])
def test_what_is_no_share_is_refused(value: Any) -> None:
    assert [holdback_share(share) for share in (0, 0.5)] == [0.0, 0.5]
    with pytest.raises(ParameterError, match="holdback must be"):
        holdback_share(value)


def test_the_counts_are_a_martingale_under_the_coin() -> None:
    """Its mean over the counts of n rounds is 1; with another coin it is not."""
    for n in (7, 60):
        for coin, is_one in ((0.1, True), (0.3, False)):
            odds = [comb(n, k) * coin**k * (1 - coin) ** (n - k) for k in range(n + 1)]
            mean = sum(p * exp(evidence(0.1, n - k, k)) for k, p in enumerate(odds))
            assert (mean == pytest.approx(1.0, rel=1e-9)) == is_one


def test_values_that_are_missing_in_one_arm() -> None:
    assert lost_answers(0.1, 90, 10) is None
    assert lost_answers(0.1, 90, 20) is None
    assert lost_answers(0.1, 0, 5) is None
    assert lost_answers(0.1, 7, 10) is None  # 8.99, and the alarm is at ln 10,000 = 9.21
    notice = lost_answers(0.1, 2, 9)
    assert notice is not None
    assert notice.startswith("of 11 missing values 9 are of the control, where about 1.1 are")
    assert lost_answers(0.1, 400, 0) is not None
