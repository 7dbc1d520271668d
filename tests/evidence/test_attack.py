"""`make attack`: cells of the program, and that it breaks a certificate which is too small."""

from typing import Any

import numpy as np
import pytest

from evidence import attack


def test_a_certificate_that_is_too_small_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear losses, of which the certificate is about the regret: 0.75 of it is too little."""
    rest = "late slope", "at once", "known", "nothing"
    cells = [attack.Cell("Predictive smooth", domain, *rest) for domain in ("disc", "ball", "line")]
    assert set(cells) <= set(attack.cells())
    assert not any(attack.attacked(cell).broken for cell in cells)
    right = attack.run

    def too_small(*arguments: Any) -> tuple[float, float]:
        regret, certificate = right(*arguments)
        return regret, 0.75 * certificate

    monkeypatch.setattr(attack, "run", too_small)
    lines = [attack.attacked(cell) for cell in cells]
    assert any(line.broken and line.games == attack.AGAIN * attack.GAMES for line in lines)


def test_the_best_point_of_a_game_is_no_worse_than_others() -> None:
    """On the disc, against a scan; the rounds weigh as a memory would have it."""
    for name in attack.GAMES_OF:
        cell = attack.Cell("Predictive lipschitz", "disc", name, "at once", "known", "bursts")
        game = attack.Game(cell, 5)
        game.answered = [(t, 0.0) for t in range(attack.ROUNDS)]
        weights = 0.9 ** np.arange(attack.ROUNDS - 1, -1, -1.0)
        angles, rounds = np.linspace(0, 2 * np.pi, 60), range(attack.ROUNDS)
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        points = np.vstack([r * circle for r in (0.0, 0.3, 0.6, 1.0)])
        least = min(float(weights @ np.array([game.value(t, v) for t in rounds])) for v in points)
        assert -game.regret(0.9) <= least + 1e-6
