"""Counted randomness: Random123's known answers, and a second derivation of its Philox4x64-10.

Salmon, Moraes, Dror and Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011.
"""

import pytest

from dikin import rng

WORD = 2**64 - 1
PI = (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89)
KNOWN = [
    ((0,) * 4, (0,) * 2, "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
    (
        *((WORD,) * 4, (WORD,) * 2),
        "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0",
    ),
    (
        *(PI, (0x452821E638D01377, 0xBE5466CF34E90C6C)),
        "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
    ),
]


def philox(counter: tuple[int, ...], key: tuple[int, ...]) -> list[int]:
    """Return the four words of a counter, after ten rounds."""
    (a, b, c, d), (k, m) = counter, key
    for _ in range(10):
        high, low = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
        a, b, c, d = low >> 64 ^ b ^ k, low & WORD, high >> 64 ^ d ^ m, high & WORD
        k, m = k + 0x9E3779B97F4A7C15 & WORD, m + 0xBB67AE8584CAA73B & WORD
    return [a, b, c, d]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_random123_s_known_answers(
    counter: tuple[int, ...], key: tuple[int, ...], words: str
) -> None:
    assert philox(counter, key) == [int(word, 16) for word in words.split()]


@pytest.mark.parametrize("round", [0, 1, 17, 2**40])
def test_a_round_has_its_own_counter(round: int) -> None:
    key = rng.stream_key(7, "price")
    drawn = rng.counted(key, round).bit_generator.random_raw(8)
    words = tuple(map(int, rng.words_of(key)))
    expected = [*philox((1, 0, 0, round), words), *philox((2, 0, 0, round), words)]
    assert list(map(int, drawn)) == expected
