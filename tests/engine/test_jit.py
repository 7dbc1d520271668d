"""Machine code: which code it is made of, when it is made, and that one process makes it."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import isfunction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import dikin
from dikin import extras
from dikin.domains import ball
from dikin.engine import jit, loop
from dikin.kernel import FUNCTIONS, compilable

# --- the code that counts ------------------------------------------------------------------------

KERNEL = '''
from typing import NamedTuple

import numpy as np

from dikin.kernel import compilable, reordered

SLOPE = 2.0


@compilable
def steep(x: float, power: float = 3.0) -> float:
    """One way up."""
    return SLOPE * x**power + np.pi


def message() -> str:
    return "for people"


class Sample(NamedTuple):
    """A kernel."""

    size: float
    shift: float = 0.5

    def value(self, x: float) -> float:
        """Its value."""
        y: float = steep(x)  # the higher, the steeper
        return y + self.shift
'''


@pytest.fixture
def digest_of(tmp_path: Path) -> Iterator[Any]:
    marked = dict(FUNCTIONS)

    def digest(source: str) -> list[str]:
        path = tmp_path / "sample.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("sample", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # Not loaded by the spec: a file that changes within a second may be taken from bytecode.
        exec(compile(source, path, "exec"), vars(module))
        return jit.code_of(module.Sample)

    yield digest
    FUNCTIONS.clear()
    FUNCTIONS.update(marked)


NO_CHANGES = [
    ("# the higher, the steeper", "# why"),
    ('"""Its value."""', '"""What it is worth."""'),
    ('"""Its value."""\n', "\n"),
    ('"""One way up."""\n', "\n"),
    ('"""A kernel."""', '"""Another word."""'),
    ("y: float = steep", "y = steep"),
    ('x: float) -> float:\n        """Its', 'x: int) -> int:\n        """Its'),
    ('"for people"', '"for others"'),
    ("SLOPE = 2.0", "# moved down\nUNUSED = 1.0\nSLOPE = 2.0"),
]
CHANGES = [
    ("SLOPE = 2.0", "SLOPE = 2.5"),
    ("power: float = 3.0", "power: float = 3.5"),
    ("SLOPE * x**power", "SLOPE + x**power"),
    ("np.pi", "np.e"),
    ("@compilable", "@reordered"),
    ("y + self.shift", "y - self.shift"),
    ("shift: float = 0.5", "shift: float = 0.25"),
    ("size: float\n", "size: float\n    more: float\n"),
]


@pytest.mark.parametrize(("old", "new"), NO_CHANGES + CHANGES)
def test_what_changes_a_kernel_changes_the_digest(digest_of: Any, old: str, new: str) -> None:
    assert old in KERNEL
    same = digest_of(KERNEL.replace(old, new)) == digest_of(KERNEL)
    assert same == ((old, new) in NO_CHANGES)


def kernels(domain: dikin.Domain) -> tuple[Any, Any]:
    world = dikin.Ridge(domain, 1.0, 0.1, seed=1)
    learner = dikin.AdaptiveSmooth(domain, 1.0, loss_range=world.loss_range, seed=1)
    parts = learner.compiled_parts()
    assert parts is not None
    return parts.kernel, world.kernel


def code(domain: dikin.Domain) -> list[str]:
    argtypes = jit.compiled_loop()._argtypes(kernels(domain))
    return jit.code_of(
        loop.play_rounds, *(cls for kind in argtypes for cls in jit.kernel_classes(kind))
    )


def test_the_code_of_a_game_is_that_of_its_own_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula of the ball counts for games on the ball, and for those only."""
    disc, box = code(dikin.Ball(2)), code(dikin.Box([0], [1]))
    assert disc != box
    cls = jit.kernel_classes(jit.compiled_loop()._argtypes(kernels(dikin.Ball(2)))[0])
    (kernel,) = (each for each in cls if each.__module__ == ball.__name__)
    monkeypatch.setattr(kernel, "extra", lambda self: 1.0, raising=False)
    vars(kernel)["extra"].__module__ = kernel.__module__
    assert code(dikin.Ball(2)) != disc
    assert code(dikin.Box([0], [1])) == box


def test_what_the_loop_calls_in_other_files_counts() -> None:
    used = [f for f in vars(loop).values() if isfunction(f) and f in FUNCTIONS]
    called = {FUNCTIONS[f].body.__name__ for f in used}
    assert len(called) > 1
    text = "".join(code(dikin.Ball(2)))
    assert all(f"('{name}', " in text for name in called)


# --- when it is made -----------------------------------------------------------------------------

GAME = """
import dikin
from dikin.engine import jit
jit.COMPILE_FROM = {compile_from}
world = dikin.Linear(dikin.Ball(3), seed=1)
learner = dikin.FKM(dikin.Ball(3), 100, loss_range=world.loss_range, seed=1)
print(dikin.play(learner, world, 100).compiled)
"""
"""The loop that is compiled soonest: it is made twice here."""
COMPILING = r"dikin: compiling the loop for \w+ \+ Ball\w+ \+ Linear\w+, once \.\.\.\n"


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


def test_a_short_game_is_plain_and_of_two_long_ones_one_compiles(tmp_path: Path) -> None:
    """A short one does not even import the compiler.

    Of two long ones at once one compiles, and says so; the other loads what that one made. After
    damage it is compiled again.
    """
    short, long = GAME.format(compile_from=101), GAME.format(compile_from=100)
    seen = f"{short}import sys; print('numba' in sys.modules)"
    alone, *both = processes(tmp_path, seen, long, long)
    assert alone == ("False\nFalse\n", "")
    quiet, (compiled, said) = sorted(both)
    assert (quiet, compiled) == (("True\n", ""), "True\n")
    assert re.fullmatch(COMPILING, said)
    for index in tmp_path.rglob("*.nbi"):
        index.write_bytes(index.read_bytes()[:-20])
    assert processes(tmp_path, long) == [("True\n", said)]


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
    run = dikin.play(player, curved, 50)
    assert (run.compiled, player.rounds) == (True, 50)


def test_kernels_of_users_are_not_kept() -> None:
    (ball, world) = kernels(dikin.Ball(2))
    mine = Mine(1.0, ball)
    kept = [jit.ours(kind) for kind in jit.compiled_loop()._argtypes((ball, world, mine, 1.0))]
    assert kept == [True, True, False, True]
    assert not jit.ours(
        jit.compiled_loop()._argtypes((world._replace(**{world._fields[0]: mine}),))[0]
    )
