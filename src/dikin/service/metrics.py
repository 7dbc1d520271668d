"""What Prometheus reads: studies as they are at that instant, and requests since the start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

MEDIA_TYPE = "text/plain; version=1.0.0; charset=utf-8"

Read = Callable[[dict[str, Any]], float | None]

GAUGES: dict[str, tuple[str, Read]] = {
    "value_mean": (
        "Mean of the last 100 values told, or losses of a learner.",
        lambda seen: seen["recent_mean"],
    ),
    "surprise": (
        "How far off the expectations of a tuner are of late.",
        lambda seen: seen["surprise"],
    ),
    "exploring_cost": (
        "What exploring costs in the next round at most, about.",
        lambda seen: seen["exploring_cost"],
    ),
    "outlook": (
        "How much worse than the best fixed setting the next rounds together will be at most, "
        "about; divide by dikin_outlook_rounds.",
        lambda seen: seen["outlook"],
    ),
    "outlook_rounds": ("The rounds of dikin_outlook.", lambda seen: seen["ahead"]),
    "certificate": (
        "The bound on the regret of all rounds so far.",
        lambda seen: seen["certificate"],
    ),
    "open_queries": ("Queries that wait for an answer.", lambda seen: seen["open"]["count"]),
    "oldest_open_query_seconds": (
        "For how long the oldest of them has waited; 0 if there is none.",
        lambda seen: seen["open"]["oldest_seconds"] or 0.0,
    ),
    "last_told_seconds": ("Since when no answer came.", lambda seen: seen["last_told_seconds"]),
    "held": ("1 while a tuner is on hold.", lambda seen: float(seen["held"])),
    "warnings": ("Warnings on the page.", lambda seen: len(seen["warnings"])),
}
"""Name, explanation, and where it stands in a glance; what is not known is left out."""


class Metrics:
    """Counts requests, and puts studies into the form that Prometheus reads."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Histogram(
            "dikin_request_seconds",
            "Time to answer a request.",
            ["method", "route", "status"],
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
            registry=self._registry,
        )
        self._busy = Counter(
            "dikin_busy", "Requests answered with 503: busy or away.", registry=self._registry
        )
        self.streams = Gauge(
            "dikin_event_streams", "Pages that watch a study now.", registry=self._registry
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        if route.endswith("/events"):
            return  # it lasts for as long as somebody looks
        self._requests.labels(method, route, str(status)).observe(seconds)
        if status == 503:
            self._busy.inc()

    def text(self, studies: list[dict[str, Any]]) -> bytes:
        """Everything, for studies at a glance."""
        once = CollectorRegistry()
        once.register(_Studies(studies))
        return generate_latest(self._registry) + generate_latest(once)


class _Studies:
    """Studies at a glance, in the form that Prometheus reads."""

    def __init__(self, studies: list[dict[str, Any]]) -> None:
        self._readable = [seen for seen in studies if seen["problem"] is None]
        self._unreadable = [seen["name"] for seen in studies if seen["problem"] is not None]

    def collect(self) -> Iterator[Metric]:
        rounds = CounterMetricFamily("dikin_rounds", "Rounds answered so far.", labels=["study"])
        restarts = CounterMetricFamily(
            "dikin_restarts", "How often the range of values was widened.", labels=["study"]
        )
        clipped = CounterMetricFamily(
            "dikin_clipped_rounds",
            "Values of a tuner that were too far off to be learnt in full.",
            labels=["study"],
        )
        best = GaugeMetricFamily("dikin_best", "The best guess now.", labels=["study", "parameter"])
        for seen in self._readable:
            rounds.add_metric([seen["name"]], seen["rounds"])
            restarts.add_metric([seen["name"]], seen["restarts"])
            if seen["kind"] == "tuner":
                clipped.add_metric([seen["name"]], seen["clipped"])
                for column, value in zip(seen["columns"], seen["center"], strict=True):
                    best.add_metric([seen["name"], column], value)
        broken = GaugeMetricFamily(
            "dikin_unreadable", "1 for a study that cannot be read.", labels=["study"]
        )
        for name in self._unreadable:
            broken.add_metric([name], 1.0)
        yield from (rounds, restarts, clipped, best, broken, *self._gauges())

    def _gauges(self) -> Iterator[Metric]:
        for name, (explanation, read) in GAUGES.items():
            family = GaugeMetricFamily(f"dikin_{name}", explanation, labels=["study"])
            for seen in self._readable:
                value = read(seen)
                if value is not None:
                    family.add_metric([seen["name"]], value)
            yield family
