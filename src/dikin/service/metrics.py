"""Metrics for Prometheus: the current status of the studies, and requests since the start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite

from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from dikin.status import MEANINGS, Status

MEDIA_TYPE = "text/plain; version=1.0.0; charset=utf-8"


def _of_uplift(part: str) -> Callable[[Status], float | None]:
    """Return a function that reads a part of the uplift, where there is one."""
    return lambda status: None if status.uplift is None else getattr(status.uplift, part)


def _of_best(place: int) -> Callable[[Status], float | None]:
    """Return a function that reads a part of the best setting's value, where it is known."""
    return lambda status: None if status.best_value is None else status.best_value[place]


GAUGES: dict[str, tuple[str, Callable[[Status], float | None]]] = {
    "value_mean": (MEANINGS["recent_mean"], lambda status: status.recent_mean),
    "best_value": ("The expected value of the best setting.", _of_best(0)),
    "best_value_low": ("The lower end of the interval of dikin_best_value.", _of_best(1)),
    "best_value_high": ("The upper end of the interval of dikin_best_value.", _of_best(2)),
    "certificate": (MEANINGS["certificate"], lambda status: status.certificate),
    "failed_trials": (MEANINGS["failed"], lambda status: status.failed),
    "open_queries": (MEANINGS["open"], lambda status: status.open.count),
    "oldest_open_query_seconds": (
        "Seconds for which the oldest open query has waited; 0 if there is none.",
        lambda status: status.open.oldest_seconds if status.open.count else 0.0,
    ),
    "last_told_seconds": (MEANINGS["last_told_seconds"], lambda status: status.last_told_seconds),
    "uplift": (MEANINGS["uplift"], _of_uplift("mean")),
    "uplift_low": ("The lower end of the interval of dikin_uplift.", _of_uplift("low")),
    "uplift_high": ("The upper end of the interval of dikin_uplift.", _of_uplift("high")),
    "uplift_total": (
        "What all tuned rounds together have gained over the control.",
        _of_uplift("total"),
    ),
    "control_mean": ("The mean value of the control.", _of_uplift("control_mean")),
    "guard_holds": (
        "1 while the guard holds a tuner at the control.",
        lambda status: None if status.guard is None else float(status.guard_reason is not None),
    ),
    "paused": ("1 while a tuner is paused.", lambda status: float(status.paused)),
    "warnings": ("Warnings shown on the page.", lambda status: len(status.warnings)),
}
"""The description and the value of each gauge; unknown values are left out."""
COUNTERS: dict[str, tuple[str, Callable[[Status], float | None]]] = {
    "rounds": (MEANINGS["rounds"], lambda status: status.rounds),
    "held_back_rounds": ("Rounds that used the control.", _of_uplift("held_back_rounds")),
    "left_out": (MEANINGS["left_out"], lambda status: status.left_out),
}


class Metrics:
    """Counts requests, and formats studies for Prometheus."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Histogram(
            "dikin_request_seconds",
            "Time to answer a request. Status 401 and 403: no right, 429: too many, 503: busy.",
            ["method", "route", "status"],
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
            registry=self._registry,
        )
        self.stuck = Gauge(
            "dikin_stuck_studies",
            "Open studies that have not answered for too long.",
            registry=self._registry,
        )

    def text(self, studies: list[Status | tuple[str, str]]) -> bytes:
        """Return all metrics, including those of these studies."""
        once = CollectorRegistry()
        once.register(_Studies(studies))
        return generate_latest(self._registry) + generate_latest(once)


class _Studies:
    """A collector of the gauges of studies, for Prometheus."""

    def __init__(self, studies: list[Status | tuple[str, str]]) -> None:
        self._readable = {str(each.name): each for each in studies if isinstance(each, Status)}
        self._unreadable = [each[0] for each in studies if not isinstance(each, Status)]

    def collect(self) -> Iterator[Metric]:
        for table, kind in ((COUNTERS, CounterMetricFamily), (GAUGES, GaugeMetricFamily)):
            for name, (explanation, read) in table.items():
                family = kind(f"dikin_{name}", explanation, labels=["study"])
                for study, status in self._readable.items():
                    value = read(status)
                    if value is not None and isfinite(value):
                        family.add_metric([study], value)
                yield family
        best = GaugeMetricFamily("dikin_best", MEANINGS["best"], labels=["study", "parameter"])
        for study, status in self._readable.items():
            for column, value in zip(status.columns, status.center, strict=True):
                best.add_metric([study, column], value)
        unreadable = GaugeMetricFamily(
            "dikin_unreadable", "1 for a study that cannot be read.", labels=["study"]
        )
        for study in self._unreadable:
            unreadable.add_metric([study], 1.0)
        yield from (best, unreadable)
