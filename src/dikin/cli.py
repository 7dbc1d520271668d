"""The command line: `dikin study`, `dikin serve`, `dikin reproduce`."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, NoReturn

import click

from dikin.errors import CheckFailedError, DikinError
from dikin.experiments.commands import reproduce
from dikin.service.commands import report, serve, token
from dikin.studies.commands import study


class Commands(click.Group):
    """Ends the program with a message and an exit status where a mistake was made."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Read the arguments and run the command."""
        try:
            super().main(*args, **kwargs)
        except CheckFailedError as broken:
            _end(f"A BOUND IS BROKEN: {broken}", 1)
        except DikinError as mistake:
            _end(f"dikin: {mistake}", 2)
        except OSError as trouble:  # also where the help cannot be written
            where = f"{trouble.filename}: " if trouble.filename else ""
            _end(f"dikin: {where}{trouble.strerror or trouble}", 2)


def _end(message: str, status: int) -> NoReturn:
    with suppress(OSError):  # standard error is full too
        click.echo(message, err=True)
    sys.exit(status)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dikin")
def main() -> None:
    """Tune the settings of a running system from one measured number per decision.

    A study is a tuner in a database. Create one, ask for a setting, use it, and report the number
    that you measured:

    \b
      dikin study create shop --param price=1:14:4 --maximize
      dikin study ask shop             prints {"id": 0, "params": {"price": 5.4}}
      dikin study tell shop 0 512.0
      dikin study best shop

    `dikin serve` offers studies over HTTP, with a page to watch them. `dikin COMMAND --help` has
    examples and options.
    """  # noqa: D301 - click reads the backspace character


study.add_command(report)
for _command in (study, serve, token, reproduce):
    main.add_command(_command)
