"""The command lines of this folder: common options, and how a program ends after a mistake."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from dikin.errors import CheckFailedError, DikinError


def parser(about: str | None, folder: str) -> argparse.ArgumentParser:
    """Return a parser with the options of every program; `folder` is where it writes by default."""
    made = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    made.add_argument("--out", type=Path, default=Path(folder), help=f"folder ({folder})")
    made.add_argument("--workers", type=positive, default=2, help="processes (2)")
    made.add_argument("--seed", type=int, default=0, help="seed of all games (0)")
    return made


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


def finish(program: Callable[[Console], object]) -> None:
    """Run a program. A broken bound ends it with status 1, a mistake with status 2."""
    try:
        program(Console())
    except CheckFailedError as broken:
        print(f"A BOUND IS BROKEN: {broken}", file=sys.stderr)
        sys.exit(1)
    except (DikinError, OSError) as mistake:
        print(mistake, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
