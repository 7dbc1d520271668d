"""A service, three simulated products that are tuned through it, and the page to watch them.

    make serve-demo

starts `dikin serve` on a folder that is thrown away, runs a shop, an image server and a newsletter
against it, and opens the page in a browser. Ctrl-C ends it.

The shop has 700 days behind it when the page opens. One of its machines answers late. One day in
twenty is as before tuning began, so the page can say whether tuning pays. The tuner knows
the weekday and the number of visitors, which explain most of the noise. The image server learns a
setting for each kind of network. The newsletter is paused: it uses its best hour and learns
nothing until it is resumed on the page.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import pi, sin
from pathlib import Path
from typing import Any, NamedTuple

import dikin

PAST = 700
"""Rounds before the page opens."""
EVERY = 0.25
"""Seconds between two rounds afterwards."""
LATE = 40
"""Rounds after which the late machine answers. One of six is late."""

DRAW = random.Random(7)


def day(number: int) -> dict[str, Any]:
    """Return the covariates of a day."""
    return {"covariates": {"weekday": number % 7, "visitors": DRAW.gauss(1000, 120)}}


def revenue(trial: dikin.Trial) -> float:
    """A day of the shop: best at a price of 6.8 with ads of 26, and the new page sells better."""
    price, ads, new = trial["price"], trial["ads"], trial["traffic"]["new"]
    shape = 620 - 7 * (price - 6.8) ** 2 - 0.06 * (ads - 26) ** 2 - 90 * (new - 0.75) ** 2
    week = 30 * sin(2 * pi * float(trial.covariates["weekday"]) / 7)
    crowd = 0.15 * (float(trial.covariates["visitors"]) - 1000)
    return float(shape) + week + crowd + DRAW.gauss(0, 9)


def network(number: int) -> dict[str, Any]:
    """Return the network of an image: of three, one is sent over a mobile network."""
    return {"context": {"network": "mobile" if number % 3 == 0 else "cable"}}


def waiting_time(trial: dikin.Trial) -> float:
    """Milliseconds of an image: a deep compression takes long, a shallow one is sent for long."""
    level, cache = trial["level"], trial["cache"]
    best = 7 if trial.context["network"] == "mobile" else 4
    return float(90 + 3 * (level - best) ** 2 + 4000 / cache + 0.02 * cache) + DRAW.gauss(0, 3)


def clicks(trial: dikin.Trial) -> float:
    """Clicks per thousand mails, best in the morning."""
    return float(42 - 0.25 * (trial["hour"] - 9.5) ** 2) + DRAW.gauss(0, 1.5)


def nothing(number: int) -> dict[str, Any]:
    """Nothing is known beforehand."""
    return {}


class Product(NamedTuple):
    """A tuner, the value of a trial, and the circumstances of round `number`."""

    tuner: dikin.Tuner
    value: Callable[[dikin.Trial], float]
    known: Callable[[int], dict[str, Any]]


PRODUCTS = {
    "shop": Product(
        dikin.Tuner(
            {
                "price": dikin.Real(1, 14, start=3.5),
                "ads": dikin.Real(0, 60, start=45),
                "traffic": dikin.Shares(["old", "new"], [0.9, 0.1]),
            },
            maximize=True,
            smoothness=2500.0,
            value_range=(-500.0, 800.0),
            covariates={"weekday": dikin.Cycle(7)},
            holdback=0.05,
            guard=0.02,
            seed=7,
        ),
        revenue,
        day,
    ),
    "image server": Product(
        dikin.Tuner(
            {"level": dikin.Integer(1, 9, 2), "cache": dikin.Real(10, 1000, 40, log=True)},
            context={"network": ["cable", "mobile"]},
            seed=7,
        ),
        waiting_time,
        network,
    ),
    "newsletter": Product(
        dikin.Tuner({"hour": dikin.Real(0, 24, start=16)}, maximize=True, seed=7), clicks, nothing
    ),
}


@contextmanager
def service(folder: str) -> Iterator[str]:
    """Run `dikin serve` in a process of its own, and yield its address."""
    command = [sys.executable, "-m", "dikin", "serve", "--url", f"{folder}/studies.db"]
    # A session of its own: it ends when we have ended the clients, not at Ctrl-C.
    with subprocess.Popen(
        [*command, "--port", "0", "--log", "warning"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().split(" at ")[1].strip().rstrip("/")
        finally:
            running.terminate()


def play(url: str, name: str, end: threading.Event, ready: threading.Barrier) -> None:
    """Run one product, and release the others if that fails."""
    try:
        with suppress(threading.BrokenBarrierError):  # it ends, or another product has failed
            play_on(url, name, end, ready)
    except BaseException:
        ready.abort()
        raise


def play_on(url: str, name: str, end: threading.Event, ready: threading.Barrier) -> None:
    """Run one product: quickly through its past, then slowly."""
    tuner, value, known = PRODUCTS[name]
    late: deque[dikin.Trial] = deque()
    with dikin.Study(url, name, tuner, client=name, patience=10.0) as study:
        for number in range(10**9):
            trial = study.ask(**known(number))
            if name == "shop" and number % 6 == 0:
                late.append(trial)
            else:
                study.tell(trial, value(trial))
            if len(late) > LATE // 6:
                oldest = late.popleft()
                study.tell(oldest, value(oldest))
            if number == PAST - 100 and name == "newsletter":
                study.pause()
            if number == PAST:
                ready.wait()
            if end.wait(EVERY if number >= PAST else 0):
                return


def main() -> None:
    """Start it all, and wait for Ctrl-C or SIGTERM."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, help="end after so long; default: at Ctrl-C")
    options.add_argument("--picture", type=Path, help="write a picture of the page and end")
    given = options.parse_args()
    end, ready = threading.Event(), threading.Barrier(len(PRODUCTS) + 1)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder, service(folder) as url:
        players = [threading.Thread(target=play, args=(url, each, end, ready)) for each in PRODUCTS]
        for player in players:
            player.start()
        try:
            print(f"running the first {PAST} rounds ...", flush=True)
            ready.wait()
            page = f"{url}/#/study/shop"
            print(f"the page is at {page}\nCtrl-C ends", flush=True)
            if given.picture is not None:
                photograph(page, given.picture)
            else:
                webbrowser.open(page)
                time.sleep(given.seconds if given.seconds is not None else 10**8)
        except KeyboardInterrupt:
            print()
        except threading.BrokenBarrierError:
            sys.exit("a product cannot be run: the reason is above")
        finally:
            end.set()
            ready.abort()
            for player in players:
                player.join()


def photograph(page: str, out: Path) -> None:
    """A picture of the page, by a browser without a window."""
    import shutil

    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        window = browser.new_page(viewport={"width": 1440, "height": 870})
        window.goto(page)
        window.get_by_text("running").first.wait_for()
        time.sleep(4.0)  # some rounds that come live
        window.screenshot(path=str(out))
        browser.close()


if __name__ == "__main__":
    main()
