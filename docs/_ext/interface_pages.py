"""The pages of the command line and of HTTP, from the commands and from the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from dikin.cli import main

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def commands(
    command: click.Command, path: tuple[str, ...] = ("dikin",), parent: click.Context | None = None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every command with its words, and its help as a terminal of 90 columns shows it."""
    context = click.Context(command, parent=parent, info_name=path[-1], terminal_width=90)
    context.max_content_width = 90
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from commands(child, (*path, name), context)


def command_page() -> str:
    """Every command with its help."""
    parts = ["# The command line\n\nThe help of every command.\n"]
    for path, words in commands(main):
        level = "#" * min(1 + len(path), 4)
        parts.append(f"{level} {' '.join(path)}\n\n```text\n{words}\n```\n")
    return "\n".join(parts)


def requests(openapi: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Every request of an OpenAPI document: method, path, right and first line."""
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            said = (operation.get("description") or operation.get("summary", "")).strip()
            yield method.upper(), path, operation.get("x-right", "none"), said.splitlines()[0]


def http_page() -> str:
    """Every request that the service answers."""
    from dikin.service.app import document

    rows = "\n".join(
        f"| `{method} {path}` | {right} | {words} |"
        for method, path, right, words in requests(document())
    )
    return (
        "# HTTP\n\nEvery request that [the service](../../service.md) answers, and the right that "
        "a token needs for it. A running service describes bodies and answers too, at "
        f"`/openapi.json`.\n\n| request | right | does |\n|---|---|---|\n{rows}\n"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    from repository_pages import AUTO, write

    def write_pages(app: Sphinx, config: object) -> None:
        write(AUTO / "api" / "commands.md", command_page())
        write(AUTO / "api" / "http.md", http_page())

    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
