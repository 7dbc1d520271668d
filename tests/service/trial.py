"""A trial of the service's security: `python tests/service/trial.py` prints what it tried."""

import csv
import io
import multiprocessing
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import urllib3

import dikin
from dikin.service.app import document
from dikin.service.tokens import RIGHTS
from dikin.studies.history import FORMULA, write_csv
from service.adversity import ENORMOUS
from service.browser import Window, browser
from service.serving import Serving, exchange, guarded, request, shop
from studies.conftest import new_file

Found = Iterator[tuple[bool, str]]
"""Attempts: if it was repelled, and what it was."""
ENDPOINTS = [(m.upper(), p, o) for p, some in document()["paths"].items() for m, o in some.items()]
HOST, JSON = "Host: localhost", "Content-Type: application/json"
MARKUP = '<img src=x onerror="document.title=1">', "<script>document.title=1</script>"
CELLS = "=1+1", "+1+1", "-1+1", "@SUM(1)"


def endpoints_by_tokens(running: Serving) -> Found:
    """Send no JSON, so that only a request that may look at its body fails because of it."""
    admin, read = running.tokens["admin"], running.tokens["read"]
    sent = {"none": "", "wrong": f"Bearer {admin[:-4]}____", "malformed": "Bearer \xff\xfe"}
    sent |= {"cut": f"Bearer {admin[:14]}", "another scheme": f"Basic {admin}"}
    sent |= {kind: f"Bearer {text}" for kind, text in running.tokens.items()}
    sent["doubled"] = f"Bearer {read}\r\nAuthorization: Bearer {admin}"
    for method, path, said in ENDPOINTS:
        where = path.replace("{name}", "gone" if method == "DELETE" else "shop")
        body, needed = "{" if method in ("POST", "PUT") else "", said.get("x-right")
        weak = RIGHTS[: RIGHTS.index(needed)] if needed else ()
        weak += ("foreign",) if "{name}" in path else ()
        for kind, text in sent.items():
            enough = kind in (*RIGHTS, "foreign") or not needed
            allowed = {200, 400, 404, 422} if enough else {401}
            allowed = {400} if kind == "doubled" else {403} if kind in weak else allowed
            lines = (HOST, JSON, *((f"Authorization: {text}",) if text else ()))
            status, answer = request(running.port, method, where, *lines, body=body)
            silent = not any(secret.encode() in answer for secret in running.tokens.values())
            yield status in allowed and silent, f"{method} {where}, {kind}: {status}"


AMBIGUOUS = [
    *("Content-Length: 4\r\nContent-Length: 60", "Content-Length: 60\r\nContent-Length: 60"),
    *("Content-Length: 60\r\nTransfer-Encoding: chunked", "Content-Length: 4, 60"),
    *("Transfer-Encoding: chunked\r\nContent-Length: 4", "Transfer-Encoding: chunked, identity"),
    *("Transfer-Encoding: xchunked", "Transfer-Encoding : chunked", "Content-Length : 60"),
    *("Content-Length: +60", "Content-Length: -1", "Host: evil.example\r\nContent-Length: 0"),
    *("X-A: \0\r\nContent-Length: 0", "Content-Length:\r\n 60", "X-A: 1\nContent-Length: 60"),
]
"""Headers that a proxy and a service may read differently."""


def smuggling(running: Serving) -> Found:
    """Requests with an ambiguous end are refused, and what hides behind is not answered."""
    token = f"Authorization: Bearer {running.tokens['admin']}"
    hidden = f"GET /v1/token HTTP/1.1\r\n{HOST}\r\n{token}\r\n\r\n"
    for lines in AMBIGUOUS:
        head = "\r\n".join(("POST /v1/studies/shop/ask HTTP/1.1", HOST, JSON, token, lines))
        status, answer = exchange(running.port, f"{head}\r\n\r\n0\r\n\r\n{hidden}", 1.0)
        yield 400 <= status < 500 and b'"right"' not in answer, f"{lines!r}: {answer[:200]!r}"


def traversal(running: Serving) -> Found:
    """No path leads to a file that is not part of the page."""
    admin = f"Authorization: Bearer {running.tokens['admin']}"
    up = ("../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..\\", "..%5c", "....//", "..%252f", "..;/")
    places = [f"/page/{each}app.py" for each in up] + [f"/page/{each * 9}etc/passwd" for each in up]
    places += ["/page//etc/passwd", "/page/page.js%00.py", "/page/", "/page/__init__.py", "/page"]
    places += ["/v1/studies/..", "/v1/studies/%2e%2e/best", "/v1/studies/a%00b", "//etc/passwd"]
    for place in places:
        status, answer = request(running.port, "GET", place, HOST, admin)
        clean = b"import" not in answer and b"root:" not in answer
        yield 400 <= status < 500 and clean, f"{place}: {status}"


def foreign_pages(running: Serving) -> Found:
    """A service without tokens answers this machine, and no page of another site."""
    with new_file() as store, Serving(store, "--log", "warning") as running:
        shop(store).close()
        foreign = [f"{HOST}\r\nOrigin: {each}" for each in ("https://evil.example", "null")]
        strangers = ["Host: studies.example.com", f"{HOST}\r\nVia: 1.1 proxy", *foreign]
        strangers += [f"{HOST}\r\n{each}: for=203.0.113.7" for each in ("Forwarded", "X-Real-Ip")]
        for method, path, said in ENDPOINTS:
            for lines in strangers if said.get("x-right") else ():
                path = path.replace("{name}", "shop")
                status, answer = request(running.port, method, path, lines, JSON)
                # A page may read what changes nothing, and its browser does not hand it over.
                kept = status == 403 or (method == "GET" and lines in foreign)
                unread = b"access-control-allow" not in answer.lower()
                yield kept and unread, f"{method} {path}, {lines!r}: {status}"
        lines = (HOST, "Content-Type: text/plain")  # as a form of another page may be sent
        status, _ = request(running.port, "POST", "/v1/studies/shop/ask", *lines, body="a=1")
        yield status == 415, f"a form: {status}"


def markup_in_names(started: Any) -> Found:
    """Names of studies, parameters, words and clients are text on the page, in a browser."""
    with new_file() as store, Serving(store, "--log", "warning") as running:
        for name in MARKUP:
            parameters = {name: dikin.Real(0, 1), "word": dikin.Choice([name, "b"])}
            with dikin.Study(running.url, name, dikin.Tuner(parameters), client=name) as study:
                study.tell(study.ask(), 1.0)
                study.ask()
            window = Window(started, running.url)
            page = window.open()
            page.get_by_text(name).first.click()
            page.get_by_role("heading", name=name, level=1).wait_for()
            page.get_by_role("table", name="Open trials").get_by_text(name).first.wait_for()
            made = page.locator("main img, main script").count()
            yield page.title() != "1" and not made and not window.faults, name
            page.close()


def formulas_in_exports(running: Serving) -> Found:
    """A text in an export does not begin as a formula does."""
    with new_file() as store:
        text, tuner = io.StringIO(), dikin.Tuner({name: dikin.Real(0, 1) for name in CELLS}, seed=1)
        for name in CELLS:
            with dikin.Study(store, "cells", tuner, client=name) as study:
                study.tell(study.ask(), 1.0)
                write_csv(study.history(), text)
        for row in csv.reader(text.getvalue().splitlines()):
            yield not any(cell.startswith(FORMULA) for cell in row), f"{row}"


def latency(running: Serving, seconds: float) -> float:
    """Return the median milliseconds of an ask with the token of another study."""
    token, taken, until = running.tokens["foreign"], [], time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        running.send("POST", "/v1/studies/prices/ask", {}, token)
        taken.append(1000 * (time.perf_counter() - began))
    return median(taken)


def attack(url: str, token: str, count: int) -> None:
    """Send what is large, wrong or costly from many threads, without end."""
    pool = urllib3.PoolManager(retries=False, maxsize=count)
    worst = ("tell", ENORMOUS), ("ask", b'{"n": 1000}'), ("forget", b'{"older_than": 0}')
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def send(verb: str, body: bytes) -> None:
        while True:
            pool.request("POST", f"{url}/v1/studies/shop/{verb}", body=body, headers=headers)

    for number in range(count):
        threading.Thread(target=send, args=worst[number % len(worst)]).start()


def hostile_threads(running: Serving, count: int, seconds: float) -> str:
    """Return by how much the threads of one token slow an ask of another one."""
    quiet, play = latency(running, seconds), running.tokens["play"]
    hostile = multiprocessing.Process(target=attack, args=(running.url, play, count))
    hostile.start()
    beside = latency(running, seconds)
    hostile.kill()
    return f"{count} hostile threads: {quiet:.1f} ms, {beside:.1f} ms, {beside / quiet:.0f} times"


TRIALS = (endpoints_by_tokens, smuggling, traversal, foreign_pages, formulas_in_exports)


def row(name: str, found: Found) -> bool:
    """Print what was tried; return whether all of it was repelled."""
    tried = list(found)
    wrong = [f"    {text}\n" for repelled, text in tried if not repelled]
    print(f"{name:20} {len(tried):5} attempts {len(wrong):3} violations\n{''.join(wrong)}", end="")
    return not wrong


def main() -> int:
    with guarded() as running:
        clean = [row(each.__name__.replace("_", " "), each(running)) for each in TRIALS]
        with browser() as started:
            clean += [row("markup in names", markup_in_names(started))]
        print(hostile_threads(running, 40, 10.0))
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
