"""A rolling update: two services on one PostgreSQL are replaced in turn, under load.

python tests/service/rolling.py                                  ten minutes, 64 clients
python tests/service/rolling.py --minutes 1 --clients 16
python tests/service/rolling.py --other ../before/src            from that version and back
"""

import argparse
import itertools
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import urllib3

import dikin
from service import crowd, template
from service.crowd import Account
from service.load import PATIENCE, PROCESSES, TITLES, row_of
from service.proxy import Proxy
from service.serving import Serving
from studies.postgres import Server

OWN = Path(dikin.__file__).parents[1]
CREATE = """
import sys, dikin
ranges = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}
dikin.Study(sys.argv[1], "rolling", dikin.Tuner(ranges, maximize=True, seed=7)).close()
"""
SETTLES = 2.0
"""Seconds of load between two restarts at least."""


class Replica(Serving):
    """A service that changes its version whenever it starts."""

    program = "from dikin.cli import main; main()"

    def __init__(self, store: str, versions: list[Path]) -> None:
        self.versions = itertools.cycle(versions)
        super().__init__(store, "--log", "warning")

    def begin(  # type: ignore[override]
        self, program: str, command: list[str], environment: dict[str, str], log: IO[str]
    ) -> subprocess.Popen[str]:
        path = {"PYTHONPATH": str(next(self.versions))}
        return template.start(program, command, environment | path, log)

    def update(self) -> None:
        """End it as an operator would, and start the other version at the same port."""
        self.stop()
        self.start()
        while self.send("GET", "/readyz").status != 200:
            time.sleep(0.05)


def play(*given: Any) -> tuple[Account, Counter[str]]:
    """Let clients of this process play; count the attempts that were refused."""
    refused: Counter[str] = Counter()
    send = urllib3.HTTPConnectionPool.urlopen

    def counted(*arguments: Any, **more: Any) -> Any:
        try:
            answer = send(*arguments, **more)
        except Exception as error:
            refused[type(error).__name__] += 1
            raise
        if answer.status >= 400:
            refused[str(answer.status)] += 1
        return answer

    urllib3.HTTPConnectionPool.urlopen = counted  # type: ignore[method-assign]
    try:
        return crowd.play_for(*given), refused
    finally:
        urllib3.HTTPConnectionPool.urlopen = send  # type: ignore[method-assign]


def rehearse(minutes: float, clients: int, versions: list[Path]) -> dict[str, Any]:
    """Update both services in turn for so long, and return what became of all requests."""
    seconds, restarts = 60.0 * minutes, 0
    with Server("max_connections=300") as server:
        path = os.environ | {"PYTHONPATH": str(versions[0])}  # no earlier one reads a later
        subprocess.run([sys.executable, "-c", CREATE, server.url], env=path, check=True)
        with (
            Replica(server.url, versions) as one,
            Replica(server.url, versions) as two,
            Proxy(one.port, two.port) as proxy,
            ProcessPoolExecutor(PROCESSES) as pool,
        ):
            given = (play, seconds, clients // PROCESSES, proxy.url, "rolling", PATIENCE)
            playing = [pool.submit(*given) for _ in range(PROCESSES)]
            replicas = itertools.cycle((one, two))
            until = time.monotonic() + seconds - SETTLES
            while time.monotonic() < until and not any(each.done() for each in playing):
                time.sleep(SETTLES)
                next(replicas).update()
                restarts += 1
            parts = [each.result() for each in playing]
            account = crowd.sum_of([each for each, _ in parts])
        faults = crowd.faults(server.url, "rolling", account)
    found = row_of("two services", "PostgreSQL", clients, seconds, restarts, account, faults)
    repeated = dict(sum((each for _, each in parts), Counter[str]()))
    return found | {"longest_s": round(max(account.seconds), 2), "repeated": repeated}


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--other", type=Path, default=OWN, help="the src of another version")
    given = options.parse_args()
    if not (given.other / "dikin").is_dir():
        options.error(f"there is no package dikin in {given.other}")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    found = rehearse(given.minutes, given.clients, [given.other.resolve(), OWN])
    titles = TITLES | {"kills": "restarts", "repeated": "refused, and repeated"}
    print("\n".join(f"{titles.get(name, name):<24}{each}" for name, each in found.items()))
    return 1 if found["lost"] or found["twice"] or found["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
