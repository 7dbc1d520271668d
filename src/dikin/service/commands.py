"""The command line of the service: `dikin serve` and `dikin token ...`."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from dikin import extras
from dikin.errors import ParameterError
from dikin.service.limits import (
    ANSWER_SECONDS,
    CONNECTIONS,
    FINISH_SECONDS,
    IDLE_SECONDS,
    LARGEST_REQUEST,
    PATIENCE,
    REQUESTS_A_SECOND,
)
from dikin.service.logs import log_to_stderr
from dikin.service.report import write_report
from dikin.service.tokens import RIGHTS, TokenStore, is_loopback
from dikin.studies.commands import name_argument, out_option, url_option
from dikin.studies.database import open_database
from dikin.studies.study import Study


@click.command(context_settings={"show_default": True})
@url_option
@click.option("--host", default="127.0.0.1", help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, help="The port, or 0 for any free one."
)
@click.option(
    "--patience",
    type=click.FloatRange(0.05, 60.0),
    default=PATIENCE,
    help="Seconds to wait for another process or for the database before answering with 503.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(0.1, 600.0),
    default=ANSWER_SECONDS,
    help="Seconds that a study may take to answer, before the answer is a 503.",
)
@click.option(
    "--rate",
    type=click.FloatRange(1.0),
    default=REQUESTS_A_SECOND,
    help="Calls of one token in a second, where ask with n counts n. Others get a 429.",
)
@click.option(
    "--largest-request",
    type=click.IntRange(1000),
    default=LARGEST_REQUEST,
    help="The largest body of a request, in bytes.",
)
@click.option(
    "--proxy",
    default="127.0.0.1",
    help="Addresses of proxies whose X-Forwarded headers are trusted.",
)
@click.option(
    "--log",
    "log_level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    help="The least severe events to log, as lines of JSON on standard error.",
)
def serve(url: str, host: str, port: int, proxy: str, log_level: str, **limits: Any) -> None:
    """Serve studies over HTTP, with a page to watch them.

    \b
      dikin serve --url sqlite:///studies.db --port 8000
      curl -X POST localhost:8000/v1/studies/shop/ask

    The page is at http://localhost:8000/, the list of endpoints at /openapi.json, metrics for
    Prometheus at /metrics. In Python: dikin.Study("http://localhost:8000", "shop").

    Without tokens the service answers only its own machine, and refuses to listen beyond it. With
    tokens (dikin token create) every request needs one. Put a proxy with TLS in front. Several such
    processes may serve one PostgreSQL database.
    """  # noqa: D301 - click reads the backspace character
    for package in ("starlette", "httptools", "uvicorn", "prometheus_client"):
        extras.require(package, "serve", "dikin serve")
    from dikin.service.app import Service

    service = Service(url, **limits)
    Study.names(url)  # fail now and not at the first client
    database = open_database(url, PATIENCE)
    tokens = TokenStore(url).all()
    if not is_loopback(host) and not any(t.state(time.time()) == "valid" for t in tokens):
        raise ParameterError(
            f"{host} can be reached from other machines, and there is no valid token: anyone "
            "could use it. Create one first (dikin token create NAME --right admin --url ...), "
            "or leave --host at 127.0.0.1"
        )
    listener = _listen(host, port)
    log_to_stderr(log_level)
    shown_host = f"[{host}]" if ":" in host else host
    click.echo(f"dikin serves {database.name} at http://{shown_host}:{listener.getsockname()[1]}/")
    if tokens and not is_loopback(host):
        click.echo("tokens are sent in the clear: put a proxy with TLS in front", err=True)
    _run(service, listener, proxy)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        # Clients that connect before the server has started wait.
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as reason:
        raise ParameterError(
            f"cannot listen on {host} port {port}: {reason.strerror}; choose another --port, or "
            "0 for any free one"
        ) from reason
    # Made anew with its protocol: asyncio sends small answers at once only if it knows that it is
    # TCP.
    return socket.socket(fileno=listener.detach())


def _run(service: Any, listener: socket.socket, proxies: str) -> None:
    """Serve until SIGTERM or Ctrl-C, and finish running requests."""
    import uvicorn

    sys.setswitchinterval(0.001)  # the longest that a study's thread delays the event loop
    config = uvicorn.Config(
        service,
        http="httptools",
        ws="none",
        loop="asyncio",
        access_log=False,
        log_config=None,
        server_header=False,
        forwarded_allow_ips=proxies,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=FINISH_SECONDS,
    )
    server = uvicorn.Server(config)
    service.is_closing = lambda: server.should_exit
    try:
        with suppress(KeyboardInterrupt):  # Ctrl-C is how it is ended, and no fault
            server.run([listener])
    finally:
        if service.studies.abandoned:
            # Python would wait for their threads, and the database does not answer them. What they
            # had acknowledged is durable.
            logging.shutdown()
            os._exit(1)


@click.command()
@name_argument
@url_option
@out_option("The HTML file to write.", required=True)
def report(name: str, url: str, out: Path) -> None:
    """Write the page of a study as one HTML file, to open from a disk, to send or to print."""
    with Study(url, name) as study:
        click.echo(f"written to {write_report(study, out)}")


@click.group()
def token() -> None:
    """Manage tokens, the rights of clients over HTTP.

    \b
      read    look at studies: the page, history, metrics
      play    ask, tell, forget, pause, resume
      admin   create and delete studies

    Each right includes those before it. Once a token exists, every request needs one.
    """  # noqa: D301 - click reads the backspace character


@token.command("create")
@click.argument("name")
@click.option(
    "--right",
    type=click.Choice(RIGHTS),
    default="read",
    show_default=True,
    help="What the token allows.",
)
@click.option(
    "--study", "studies", multiple=True, help="Only for this study; may be repeated. Default: all."
)
@click.option(
    "--days",
    type=click.FloatRange(0, 36500, min_open=True),
    help="Days until it expires. Default: never.",
)
@url_option
def create(name: str, right: str, studies: tuple[str, ...], days: float | None, url: str) -> None:
    """Create a token for NAME, a person or a program, and print it: it is not stored."""
    tokens, database = TokenStore(url), open_database(url, PATIENCE)
    first = not tokens.all()
    for study in sorted(set(studies) - set(Study.names(url))):
        click.echo(f"note: there is no study {study!r} yet", err=True)
    click.echo(tokens.create(name, right, studies or None, days))
    covered = "all studies" if not studies else ", ".join(studies)
    click.echo(
        f"token {name!r} ({right}, {covered}) is in {database.name}. Save it: it is shown only "
        "once. Clients read it from DIKIN_TOKEN.",
        err=True,
    )
    if first:
        click.echo(
            "It is the first token of this store: within two seconds its services require a token "
            "for every request.",
            err=True,
        )


@token.command("list")
@url_option
def list_(url: str) -> None:
    """List the tokens: id, name, right, studies, when created, and whether valid."""
    tokens = TokenStore(url).all()
    if not tokens:
        click.echo(f"{open_database(url, PATIENCE).name} has no tokens", err=True)
    for each in tokens:
        created, state = _day(each.created), each.state(time.time())
        studies = "all studies" if each.studies is None else ", ".join(each.studies)
        if each.expires is not None and state == "valid":
            state += f" until {_day(each.expires)}"
        click.echo("\t".join((each.id, each.name, each.right, studies, created, state)))


def _day(seconds: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


@token.command("revoke")
@click.argument("which")
@url_option
def revoke(which: str, url: str) -> None:
    """Revoke the token WHICH (a name or an id). It is invalid within two seconds."""
    revoked = TokenStore(url).revoke(which)
    click.echo(f"token {revoked.name!r} ({revoked.id}) is revoked")
