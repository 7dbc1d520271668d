"""A service, three simulated products that are tuned through it, and the page to watch them.

    make serve-demo

starts `dikin serve` on a folder that is thrown away, plays a shop, an image server and a newsletter
against it, and opens the page in a browser. Ctrl-C ends it.

The shop has 600 days behind it when the page opens; one of its machines answers late. The
newsletter is on hold: it plays its best hour and learns nothing until it is resumed on the page.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dikin

PAST = 600
"""Rounds that are played before the page opens."""
EVERY = 0.25
"""Seconds between two rounds afterwards."""
LATE = 40
"""Rounds after which the late machine answers; one of six is late."""

DRAW = random.Random(7)


def revenue(trial: dikin.Trial) -> float:
    """A day of the shop: best at a price of 6.8 with ads of 26, and the new page sells better."""
    price, ads, new = trial["price"], trial["ads"], trial["traffic"]["new"]
    shape = 620 - 7 * (price - 6.8) ** 2 - 0.06 * (ads - 26) ** 2 - 90 * (new - 0.75) ** 2
    return float(shape) + DRAW.gauss(0, 9)


def waiting_time(trial: dikin.Trial) -> float:
    """Milliseconds of an image: a deep compression takes long, a shallow one is sent for long."""
    level, cache = trial["level"], trial["cache"]
    return float(90 + 3 * (level - 5) ** 2 + 4000 / cache + 0.02 * cache) + DRAW.gauss(0, 3)


def clicks(trial: dikin.Trial) -> float:
    """Clicks per thousand mails, best in the morning."""
    return float(42 - 0.25 * (trial["hour"] - 9.5) ** 2) + DRAW.gauss(0, 1.5)


TUNERS: dict[str, tuple[dikin.Tuner, Callable[[dikin.Trial], float]]] = {
    "shop": (
        dikin.Tuner(
            {
                "price": dikin.Real(1, 14, start=3.5),
                "ads": dikin.Real(0, 60, start=45),
                "traffic": dikin.Shares(["old", "new"], [0.9, 0.1]),
            },
            maximize=True,
            smoothness=2500.0,
            value_range=(-400.0, 700.0),
            seed=7,
        ),
        revenue,
    ),
    "image server": (
        dikin.Tuner(
            {"level": dikin.Integer(1, 9, 2), "cache": dikin.Real(10, 1000, 40, log=True)}, seed=7
        ),
        waiting_time,
    ),
    "newsletter": (
        dikin.Tuner({"hour": dikin.Real(0, 24, start=16)}, maximize=True, seed=7),
        clicks,
    ),
}


@contextmanager
def service(folder: str) -> Iterator[str]:
    """`dikin serve` in a process of its own; its address."""
    command = [sys.executable, "-m", "dikin", "serve", "--url", f"{folder}/studies.db"]
    with subprocess.Popen(
        [*command, "--port", "0", "--log", "warning"], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().split(" at ")[1].strip().rstrip("/")
        finally:
            running.terminate()


def play(url: str, name: str, end: threading.Event, ready: threading.Barrier) -> None:
    """Play one product; if that fails, nobody waits for it."""
    try:
        play_on(url, name, end, ready)
    except BaseException:
        ready.abort()
        raise


def play_on(url: str, name: str, end: threading.Event, ready: threading.Barrier) -> None:
    """Play one product: quickly through its past, then at leisure."""
    tuner, value = TUNERS[name]
    late: deque[dikin.Trial] = deque()
    with dikin.Study(url, name, tuner, client=name, patience=10.0) as study:
        for number in range(10**9):
            trial = study.ask()
            if name == "shop" and number % 6 == 0:
                late.append(trial)
            else:
                study.tell(trial, value(trial))
            if len(late) > LATE // 6:
                oldest = late.popleft()
                study.tell(oldest, value(oldest))
            if number == PAST - 100 and name == "newsletter":
                study.hold()
            if number == PAST:
                ready.wait()
            if number >= PAST and end.wait(EVERY):
                return


def main() -> None:
    """Start it all, and wait for Ctrl-C."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, help="end after so long; default: at Ctrl-C")
    options.add_argument("--picture", type=Path, help="write a picture of the page and end")
    given = options.parse_args()
    end, ready = threading.Event(), threading.Barrier(len(TUNERS) + 1)
    with tempfile.TemporaryDirectory() as folder, service(folder) as url:
        players = [threading.Thread(target=play, args=(url, each, end, ready)) for each in TUNERS]
        for player in players:
            player.start()
        print(f"playing the first {PAST} rounds ...", flush=True)
        try:
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
            sys.exit("a product cannot be played: the reason is above")
        finally:
            end.set()
            for player in players:
                player.join()


def photograph(page: str, out: Path) -> None:
    """A picture of the page, by a browser without a window."""
    import shutil

    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        window = browser.new_page(viewport={"width": 1800, "height": 1010})
        window.goto(page)
        window.get_by_text("playing").first.wait_for()
        time.sleep(4.0)  # some rounds that come live
        window.screenshot(path=str(out))
        browser.close()


if __name__ == "__main__":
    main()
