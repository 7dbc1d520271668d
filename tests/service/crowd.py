"""Clients that play one study over HTTP at the same time, and an account of what they were told."""

import threading
import time
from typing import Any, NamedTuple

import dikin
from dikin import errors


class Account(NamedTuple):
    """What clients were acknowledged."""

    asked: list[int]
    told: dict[int, float]
    """The value of each trial whose tell returned."""
    refused: list[str]
    """What calls failed with, after all patience."""
    seconds: list[float]
    """How long each call took."""


class Client(threading.Thread):
    """One client: asks and tells until it is told to end."""

    def __init__(
        self, number: int, url: str, name: str, patience: float | None, end: Any, opened: Any
    ) -> None:
        super().__init__(name=f"client {number}")
        self.number, self._end = number, end
        self._open = lambda: opened(url, name, client=self.name, patience=patience)
        self.account = Account([], {}, [], [])

    def run(self) -> None:
        asked, told, refused, seconds = self.account
        with self._open() as study:
            while not self._end.is_set():
                began = time.perf_counter()
                try:
                    trial = study.ask()
                    asked.append(trial.id)
                    middle = time.perf_counter()
                    value = 100.0 - (trial.point[0] - 7) ** 2 + self.number / 1000
                    study.tell(trial, value)
                    told[trial.id] = value
                    seconds += [middle - began, time.perf_counter() - middle]
                except errors.DikinError as error:
                    refused.append(f"{type(error).__name__}: {error}")


def start(
    count: int, url: str, name: str, patience: float | None, end: Any, opened: Any = dikin.Study
) -> list[Client]:
    clients = [Client(number, url, name, patience, end, opened) for number in range(count)]
    for client in clients:
        client.start()
    return clients


def play_for(
    seconds: float,
    count: int,
    url: str,
    name: str,
    patience: float | None,
    opened: Any = dikin.Study,
) -> Account:
    """Let clients of this process ask and tell for so long, and for one round at least."""
    end = threading.Event()
    clients = start(count, url, name, patience, end, opened)
    time.sleep(seconds)
    if not told(clients):
        wait_for_rounds(clients, 1)
    end.set()
    return together(clients)


def told(clients: list[Client]) -> int:
    """How many rounds are acknowledged by now."""
    return sum(len(client.account.told) for client in clients)


def wait_for_rounds(clients: list[Client], rounds: int) -> None:
    """Until so many more rounds are acknowledged than now."""
    wanted = told(clients) + rounds
    while told(clients) < wanted:
        assert any(client.is_alive() for client in clients), "all clients have ended"
        time.sleep(0.002)


def together(clients: list[Client]) -> Account:
    """Wait for their end; the account of all."""
    for client in clients:
        client.join()
    return sum_of([client.account for client in clients])


def sum_of(accounts: list[Account]) -> Account:
    """One account of all."""
    asked, told, refused, seconds = Account([], {}, [], [])
    for each in accounts:
        asked += each.asked
        told |= each.told
        refused += each.refused
        seconds += each.seconds
    return Account(asked, told, refused, seconds)


def faults(store: str, name: str, account: Account) -> dict[str, int]:
    """What is wrong with the store: answers lost, altered, counted twice; queries given twice."""
    with dikin.Study(store, name) as study:
        rows = study.records()
        study.verify()
        waiting = {query.id for query in study.open_queries}
    kept = {row["query"]: row["value"] for row in rows}
    return {
        "lost": sum(id not in kept for id in account.told),
        "altered": sum(kept.get(id, value) != value for id, value in account.told.items()),
        "twice": len(rows) - len(kept),
        "given twice": len(account.asked) - len(set(account.asked)),
        "asked and gone": sum(id not in kept and id not in waiting for id in account.asked),
    }


NOTHING = {"lost": 0, "altered": 0, "twice": 0, "given twice": 0, "asked and gone": 0}
