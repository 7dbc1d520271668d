"""Power loss on SQLite: a disk that forgets what was not synced, cut at every sync.

    make power-loss     a thousand rounds, some minutes

A process plays a study while a library (power_loss.c) records all that it writes and syncs. From
that record the disk is built again as it may be after the power was lost just before each sync:

    forgetful   all that was not synced is gone
    random      of what was not synced, any part is there, in any order, torn at sectors

Then the study is opened there: whatever was acknowledged before must be in it. Names of files are
durable once their folder was synced, as POSIX has it; file systems promise more.
"""

import argparse
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as in the tests

import dikin
from dikin.errors import DikinError
from dikin.studies.sqlite import Sqlite
from in_memory import in_memory
from marks import into_page
from studies.small import fresh

SECTOR = 512
"""Bytes that a disk writes whole or not at all."""
REOPENED = 100
"""Rounds after which the study is closed and opened again: its log is then deleted."""
VERIFIED = 25
"""Cuts of which one is verified, the whole journal replayed; all are opened and read."""
HEAD = struct.Struct("4Q")
NAME = "study"
ACKNOWLEDGES = b"ask ", b"tell "
"""How a write to the file of acknowledgements begins."""

HEADING = [
    "| synchronous | disk | cuts | acknowledged | cuts that lost something | verified |",
    "|---|---|---:|---:|---:|---:|",
]


def play(folder: Path, rounds: int, synchronous: str) -> None:
    """Ask and tell; each acknowledgement is a write like any other, to a file of its own."""
    opened = Sqlite._opened

    def prepared(database: Sqlite) -> Any:
        connection = opened(database)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        return connection

    Sqlite._opened = prepared  # type: ignore[method-assign]
    acks = os.open(folder / "acks", os.O_WRONLY | os.O_CREAT)
    for first in range(0, rounds, REOPENED):
        with dikin.Study(folder / "studies.db", NAME, fresh()) as study:
            for _ in range(first, min(rounds, first + REOPENED)):
                query = study.ask()
                os.write(acks, f"ask {query.id}\n".encode())
                study.tell(query, 0.25)
                os.write(acks, f"tell {query.id}\n".encode())


def recorded(folder: Path, rounds: int, synchronous: str = "FULL") -> Path:
    """Play in another process; the record of its writes and syncs."""
    library, record, disk = folder / "power_loss.so", folder / "record", folder / "disk"
    disk.mkdir()
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    subprocess.run(
        [sys.executable, __file__, "--play", disk, "--rounds", str(rounds)],
        check=True,
        env=os.environ
        | {"LD_PRELOAD": str(library), "POWER_LOG": str(record), "POWER_FOLDER": str(disk)}
        | {"SYNCHRONOUS": synchronous},
    )
    return record


class Call(NamedTuple):
    """A call of the record: a write, truncation, sync, creation or removal, by its first letter."""

    what: str
    inode: int
    offset: int
    data: bytes


def calls(record: Path) -> Iterator[Call]:
    with record.open("rb") as file:
        while head := file.read(HEAD.size):
            what, inode, offset, size = HEAD.unpack(head)
            yield Call(chr(what), inode, offset, file.read(size))


def change(content: bytearray, call: Call) -> None:
    """What a write or a truncation does to a file."""
    end = call.offset + len(call.data)
    if call.what == "T":
        del content[call.offset :]
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    content[call.offset : end] = call.data


class Disk:
    """What is on the disk for sure, and what may be."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        """The number of the file that has an inode."""
        self.synced: dict[int, bytearray] = {}
        self.pending: dict[int, list[Call]] = {}
        self.names: dict[str, int] = {}
        self.renamed: list[Call] = []
        """Creations and removals of names since the folder was last synced."""
        self.acknowledged: list[str] = []

    def take(self, call: Call) -> None:
        """Let a call happen."""
        if call.what == "C":  # the inode may be that of a file which was removed
            self._numbers[call.inode] = len(self.synced)
        call = call._replace(inode=self._numbers.get(call.inode, -1))
        if call.what == "C":
            self.synced[call.inode], self.pending[call.inode] = bytearray(), []
        if call.what in "CU":
            self.renamed.append(call)
        elif call.what == "D":
            for each in self.renamed:
                _rename(self.names, each)
            self.renamed = []
        elif call.what == "S":
            for each in self.pending[call.inode]:
                change(self.synced[call.inode], each)
            self.pending[call.inode] = []
        elif call.data.startswith(ACKNOWLEDGES):
            self.acknowledged.append(call.data.decode().strip())
        else:
            self.pending[call.inode].append(call)

    def forgetful(self) -> dict[str, bytearray]:
        """The files, if all that was not synced is gone."""
        return {name: self.synced[inode] for name, inode in self.names.items()}

    def random(self, chance: Random) -> dict[str, bytearray]:
        """The files, if any part of what was not synced is there."""
        names = dict(self.names)
        for call in self.renamed[: chance.randint(0, len(self.renamed))]:
            _rename(names, call)
        return {name: self._random(inode, chance) for name, inode in names.items()}

    def _random(self, inode: int, chance: Random) -> bytearray:
        content = bytearray(self.synced[inode])
        some = [call for call in self.pending[inode] if chance.random() < 0.5]
        chance.shuffle(some)
        for call in some:
            if call.what == "W" and chance.random() < 0.5:  # torn
                sectors = 1 + len(call.data) // SECTOR
                begin, end = sorted(SECTOR * chance.randint(0, sectors) for _ in range(2))
                call = call._replace(offset=call.offset + begin, data=call.data[begin:end])
            change(content, call)
        return content


def _rename(names: dict[str, int], call: Call) -> None:
    name = Path(call.data.decode()).name
    if call.what == "C":
        names[name] = call.inode
    else:
        names.pop(name, None)


class Report(NamedTuple):
    """What came of the cuts."""

    kind: str
    cuts: int
    acknowledged: int
    """Events that had been acknowledged at the last cut."""
    lost: int
    """Cuts after which something acknowledged was missing, or the study could not be opened."""
    verified: int
    first: str
    """What was wrong the first time."""

    def line(self, synchronous: str) -> str:
        """A line of the table."""
        numbers = self.cuts, self.acknowledged, self.lost, self.verified
        return " | ".join([f"| {synchronous}", self.kind, *(f"{n:,}" for n in numbers)]) + " |"


def cut(record: Path, kind: str, seed: int = 1) -> Report:
    """Lose the power before each sync, before an acknowledgement without one, and last."""
    disk, chance = Disk(), Random(seed)
    cuts = lost = verified = 0
    first, synced = "", True
    last = Call("S", 0, 0, b"")
    for call in [*calls(record), last]:
        sync, acknowledges = call.what in "SD", call.data.startswith(ACKNOWLEDGES)
        if disk.acknowledged and (sync or (acknowledges and not synced)):
            cuts += 1
            files = disk.forgetful() if kind == "forgetful" else disk.random(chance)
            verifies = cuts % VERIFIED == 0 or call is last
            wrong = missing(files, disk.acknowledged, verifies)
            verified += verifies and not wrong
            lost += bool(wrong)
            first = first or wrong
        synced = sync or (synced and not acknowledges)
        if call is not last:
            disk.take(call)
    return Report(kind, cuts, len(disk.acknowledged), lost, verified, first)


def missing(files: dict[str, bytearray], acknowledged: list[str], verifies: bool) -> str:
    """What is wrong with a study after the power came back; empty if nothing is."""
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        for name, content in files.items():
            if not name.endswith("-shm"):  # an index of the log, which is made anew
                Path(folder, name).write_bytes(content)
        try:
            with dikin.Study(f"{folder}/studies.db", NAME) as study:
                rows = study._ledger.fold.n + 1
                if verifies:
                    study.verify()
        except DikinError as error:
            return f"after {acknowledged[-1]}: {error}"
    # Asks and tells alternate, so that the number of rows says which are there.
    if rows < len(acknowledged):
        return f"{len(acknowledged)} acknowledged, {rows} there"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--page", type=Path, help="a page to put the table into")
    parser.add_argument("--play", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.play is not None:
        play(wanted.play, wanted.rounds, os.environ["SYNCHRONOUS"])
        return 0
    if shutil.which("cc") is None:
        print("this needs a C compiler, cc, for the library that records writes", file=sys.stderr)
        return 2
    lost, lines = 0, HEADING.copy()
    for synchronous in ("FULL", "OFF"):
        with tempfile.TemporaryDirectory() as folder:
            rounds = wanted.rounds if synchronous == "FULL" else min(wanted.rounds, 100)
            record = recorded(Path(folder), rounds, synchronous)
            for kind in ("forgetful", "random"):
                found = cut(record, kind)
                lines.append(found.line(synchronous))
                if synchronous == "FULL" and found.lost:
                    lost += found.lost
                    print(found.first, file=sys.stderr)
    table = "\n".join(lines) + "\n"
    print(table)
    if wanted.page is not None:
        into_page(table, wanted.page, "power-loss")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
