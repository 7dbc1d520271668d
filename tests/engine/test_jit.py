"""Machine code: when it is made, for whom it is kept, and when it is made anew."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import dikin
from dikin import extras
from dikin.engine import jit
from dikin.kernel import compilable

GAME = """
import dikin
from dikin.engine import jit
jit.COMPILE_FROM = {compile_from}
world = dikin.Linear(dikin.Ball(3), seed=1)
learner = dikin.FKM(dikin.Ball(3), 100, loss_range=world.loss_range, seed=1)
print(dikin.play(learner, world, 100).compiled)
"""
"""The loop that is compiled soonest: it is made twice here."""


def processes(folder: Path, *scripts: str) -> list[tuple[str, str]]:
    """What Python processes that run at the same time write."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for script in scripts
    ]
    return [process.communicate(timeout=600) for process in started]


def test_a_short_game_is_plain_and_a_long_one_is_compiled_for_later_processes(
    tmp_path: Path,
) -> None:
    """A short one does not even import the compiler."""
    short, long = GAME.format(compile_from=101), GAME.format(compile_from=100)
    alone, made = processes(tmp_path, f"{short}import sys; print('numba' in sys.modules)", long)
    assert alone == ("False\nFalse\n", "")
    assert made == ("True\n", "")
    (code,) = tmp_path.rglob("*.nbc")
    before = code.stat().st_mtime_ns
    assert processes(tmp_path, long) == [made]
    assert code.stat().st_mtime_ns == before


def test_machine_code_is_named_by_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that compiled code comes from may not change unnoticed."""
    shutil.copytree(jit.ROOT, tmp_path / "dikin", ignore=shutil.ignore_patterns("__pycache__"))
    names = {jit.source_digest()}
    monkeypatch.setattr(jit, "ROOT", tmp_path / "dikin")
    jit.source_digest.cache_clear()
    assert {jit.source_digest()} == names
    for name in ("vectors.py", "domains/ball.py", "learners/adaptive.py", "environments/ridge.py"):
        (tmp_path / "dikin" / name).write_text("changed")
        jit.source_digest.cache_clear()
        names.add(jit.source_digest())
    jit.source_digest.cache_clear()
    assert len(names) == 5


def world(seed: int = 1) -> dikin.Environment:
    return dikin.Linear(dikin.Ball(2), seed=seed)


def learner(seed: int = 1) -> dikin.Learner:
    """With such losses it is compiled soonest."""
    return dikin.FKM(dikin.Ball(2), 100, loss_range=world().loss_range, seed=seed)


def is_compiled(rounds: int) -> bool:
    return dikin.play(learner(), world(), rounds).compiled


def test_without_numba_a_game_is_played_and_the_extra_is_named_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "installed", lambda package: False)
    monkeypatch.setattr(jit, "COMPILE_FROM", 50)
    jit._say_what_is_missing.cache_clear()
    for rounds in (49, 50, 51):
        assert not is_compiled(rounds)
        assert capsys.readouterr().err.count('pip install "dikin[lab]"') == (rounds == 50)


def test_the_length_of_all_games_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never what was compiled before: a seed gives the same last digit every day."""
    monkeypatch.setattr(jit, "COMPILE_FROM", 50)
    assert [is_compiled(rounds) for rounds in (49, 50, 49)] == [False, True, False]

    def runs(games: int) -> list[bool]:
        return [run.compiled for run in dikin.replicate(learner, world, rounds=20, seeds=games)]

    assert runs(2) == [False] * 2
    assert runs(3) == [True] * 3


class Mine(NamedTuple):
    """A kernel that no other process could import."""

    part: float
    inner: Any


class Halved(NamedTuple):
    """A curvature pattern of a user's, with a function that is marked after the first game."""

    sigma: float

    def at(self, round: int) -> float:
        return half(self.sigma)


def half(value: float) -> float:
    return value / 2


def test_a_function_may_be_marked_after_the_first_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "COMPILE_FROM", 1)
    assert is_compiled(10)
    compilable(half)
    curved = dikin.Ridge(dikin.Ball(2), 1.0, Halved(0.4), seed=1)
    player = dikin.FKM(dikin.Ball(2), 100, loss_range=curved.loss_range, seed=1)
    assert (dikin.play(player, curved, 50).compiled, player.rounds) == (True, 50)


def test_kernels_of_users_are_not_kept() -> None:
    disc = learner()._kernel
    kept = [jit._ours(kind) for kind in (disc, world().kernel, Mine(1.0, disc))]
    assert kept == [True, True, False]
    assert not jit._ours(disc._replace(geometry=Mine(1.0, disc)))
