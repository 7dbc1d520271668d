"""The provider in the real SDK: a trial for each key, and a host that never suffers."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import inf, nan
from typing import Any

import pytest
from openfeature import api
from openfeature.client import OpenFeatureClient
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason
from openfeature.track import TrackingEventDetails

import dikin
from dikin.adapters import openfeature
from dikin.adapters.openfeature import TunerProvider
from dikin.errors import ParameterError
from service.serving import Serving
from studies.conftest import new_file

PARAMETERS: dict[str, Any] = {
    "price": dikin.Real(1, 14, start=4),
    "results": dikin.Integer(5, 50, start=10),
    "banner": dikin.Integer(0, 1),
    "size": dikin.Levels(["small", "large"]),
    "wait": dikin.Levels([1, 2.5, 4]),
    "traffic": dikin.Shares(["old", "new"]),
}


def tuner(**options: Any) -> dikin.Tuner:
    return dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, maximize=True, seed=7, **options)


def client(provider: TunerProvider) -> OpenFeatureClient:
    api.set_provider_and_wait(provider)
    return api.get_client()


@pytest.fixture(autouse=True)
def no_provider_is_left() -> Iterator[None]:
    yield
    api.shutdown()


def visit(key: str) -> EvaluationContext:
    return EvaluationContext(key)


def price(host: OpenFeatureClient, key: str) -> float:
    found = host.get_float_details("price", -1.0, visit(key))
    assert found.error_code is None
    return found.value


def track(host: OpenFeatureClient, key: str, value: float | None, **attributes: Any) -> None:
    host.track("revenue", visit(key), TrackingEventDetails(value, attributes))


def test_flags_of_a_key_are_one_trial() -> None:
    tuned = dikin.Tuner(PARAMETERS, seed=7)
    host, same = client(TunerProvider(tuned, "revenue")), visit("a")
    found = [
        host.get_float_details("price", -1.0, same),
        host.get_float_details("wait", -1.0, same),
        host.get_boolean_details("banner", False, same),
        host.get_integer_details("results", -1, same),
        host.get_string_details("size", "none", same),
        host.get_object_details("traffic", {}, same),
        host.get_object_details("setting", {}, same),
    ]
    assert tuned.asked == 1
    trial = tuned.open_queries[0]
    names = ("price", "wait", "banner", "results", "size", "traffic")
    assert [each.value for each in found[:-1]] == [trial[name] for name in names]
    assert [type(each.value) for each in found[:4]] == [float, float, bool, int]
    assert found[-1].value == trial.params
    assert all(each.flag_metadata == {"trial": trial.id, "paused": False} for each in found)
    assert {each.reason for each in found} == {Reason.SPLIT}
    setting: Any = found[-1].value
    setting["traffic"]["old"] = 99  # the host may write into an object
    again: Any = host.get_object_value("setting", {}, same)
    assert again["traffic"]["old"] < 1
    host.get_float_details("price", -1.0, visit("b"))
    assert tuned.asked == 2


def test_values_reach_their_trials() -> None:
    """Late and out of order: the same as a tuner that is told by hand, bit for bit."""
    tuned, by_hand = tuner(), tuner()
    host = client(TunerProvider(tuned, "revenue"))
    prices = {key: price(host, key) for key in "abcdef"}
    trials = dict(zip("abcdef", by_hand.ask(n=6), strict=True))
    assert prices == {key: trial["price"] for key, trial in trials.items()}
    for value, key in enumerate("cafbe"):
        for repeated in (value, value, 9000.0):  # once more, as events may come twice
            track(host, key, float(repeated))
        by_hand.tell(trials[key], float(value))
    assert tuned.state() == by_hand.state()
    assert [trial.id for trial in tuned.open_queries] == [trials["d"].id]
    price(host, "a")  # which was told, and begins anew
    assert (tuned.asked, tuned.rounds) == (7, 5)


def test_an_event_with_its_trial_is_told_to_no_other() -> None:
    """A visitor comes back, and then the event of the first visit comes once more."""
    tuned = tuner()
    host = client(TunerProvider(tuned, "revenue"))
    first = host.get_float_details("price", 4.0, visit("a")).flag_metadata["trial"]
    track(host, "a", 500.0, trial=first)
    second = host.get_float_details("price", 4.0, visit("a")).flag_metadata["trial"]
    track(host, "a", 500.0, trial=first)
    assert (first, second, tuned.rounds) == (0, 1, 1)
    track(host, "a", 300.0, trial=second)
    assert tuned.history()["value"].tolist() == [500.0, 300.0]
    assert host.get_float_details("price", 4.0, visit("a")).flag_metadata["trial"] == 2


def test_a_wrong_flag_costs_the_default() -> None:
    tuned = dikin.Tuner(PARAMETERS, seed=7)
    host = client(TunerProvider(tuned, "revenue"))
    wrong: list[tuple[Any, ErrorCode]] = [
        (host.get_float_details("prize", 4.0, visit("a")), ErrorCode.FLAG_NOT_FOUND),
        (host.get_float_details("price", 4.0), ErrorCode.TARGETING_KEY_MISSING),
        (host.get_float_details("price", 4.0, visit("")), ErrorCode.TARGETING_KEY_MISSING),
    ]
    assert tuned.asked == 0
    wrong += [
        (host.get_float_details("size", 4.0, visit("a")), ErrorCode.TYPE_MISMATCH),
        (host.get_integer_details("price", 4, visit("a")), ErrorCode.TYPE_MISMATCH),
        (host.get_boolean_details("results", True, visit("a")), ErrorCode.TYPE_MISMATCH),
        (host.get_object_details("price", {"x": 1}, visit("a")), ErrorCode.TYPE_MISMATCH),
    ]
    assert [found.error_code for found, _ in wrong] == [code for _, code in wrong]
    assert {found.reason for found, _ in wrong} == {Reason.ERROR}
    assert [found.value for found, _ in wrong] == [4, 4, 4, 4, 4, True, {"x": 1}]
    assert "Did you mean 'price'?" in str(wrong[0][0].error_message)


def test_events_that_cannot_be_told_change_nothing() -> None:
    tuned = tuner()
    host = client(TunerProvider(tuned, "revenue"))
    price(host, "a")
    before = tuned.state()
    host.track("revenue", visit("a"))  # no value
    for value in (None, nan, inf, "much"):
        track(host, "a", value)  # type: ignore[arg-type]
    track(host, "b", 1.0)  # never evaluated
    track(host, "a", 1.0, trial=99)  # never asked
    track(host, "a", 1.0, trial="the first")
    host.track("revenue", None, TrackingEventDetails(1.0))  # no key
    host.track("clicks", visit("a"), TrackingEventDetails(1.0))  # another event
    assert tuned.state() == before
    track(host, "a", 500.0)  # the right value may come later
    assert tuned.history()["value"].tolist() == [500.0]


class Broken:
    """A tuner whose database is down."""

    def __init__(self) -> None:
        self.space, self.down = tuner().space, True
        self._tuner = tuner()

    def __getattr__(self, name: str) -> Any:
        if self.down and name in ("ask", "tell", "forget"):
            raise dikin.errors.StoreError("the database is down")
        return getattr(self._tuner, name)


def test_a_store_that_is_down_costs_the_default() -> None:
    broken = Broken()
    host = client(TunerProvider(broken, "revenue"))  # type: ignore[arg-type]
    found = host.get_float_details("price", 4.0, visit("a"))
    assert (found.value, found.error_code) == (4.0, ErrorCode.GENERAL)
    assert found.error_message == "the database is down"
    track(host, "a", 1.0)
    broken.down = False  # up again: the key was not used up
    price(host, "a")
    broken.down = True
    track(host, "a", 500.0)
    assert broken.rounds == 0
    broken.down = False
    track(host, "a", 500.0)
    assert (broken.asked, broken.rounds) == (1, 1)


@pytest.mark.parametrize(("untracked", "values"), [(None, []), (0.0, [0.0, 0.0])])
def test_old_keys_are_given_up(
    untracked: float | None, values: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openfeature, "MOST_OPEN", 3)
    tuned = tuner()
    host = client(TunerProvider(tuned, "revenue", untracked=untracked))
    for key in "abcde":
        price(host, key)
    assert [trial.id for trial in tuned.open_queries] == [2, 3, 4]
    assert tuned.history()["value"].tolist() == values
    track(host, "a", 1.0)
    assert tuned.rounds == len(values)
    track(host, "c", 1.0)
    assert [trial.id for trial in tuned.open_queries] == [3, 4]


def test_attributes_are_contexts_and_covariates() -> None:
    """As by hand: contexts and covariates by name, of the request and of the event; no others."""
    declared: dict[str, Any] = {
        "context": {"region": ["eu", "us"]},
        "covariates": {"load": float, "visitors": float},
    }
    tuned, by_hand = tuner(**declared), tuner(**declared)
    host = client(TunerProvider(tuned, "revenue"))
    for i in range(30):
        key, region, load = str(i), ["eu", "us"][i % 2], i / 30
        attributes = {"region": region, "load": load, "email": "somebody@example.com"}
        found = host.get_float_value("price", -1.0, EvaluationContext(key, attributes))
        trial = by_hand.ask({"region": region}, covariates={"load": load})
        assert found == trial["price"]
        track(host, key, 500.0 + i % 7, visitors=float(i), email="somebody@example.com")
        by_hand.tell(trial, 500.0 + i % 7, covariates={"visitors": float(i)})
    assert tuned.state() == by_hand.state()
    missing = host.get_float_details("price", -1.0, visit("nowhere"))
    assert (missing.value, missing.error_code) == (-1.0, ErrorCode.INVALID_CONTEXT)
    assert "region" in str(missing.error_message)


def test_failures_and_metrics_are_attributes_of_the_event() -> None:
    tuned = tuner(limits=["p99_ms <= 200", "failed <= 0.1"])
    host = client(TunerProvider(tuned, "revenue"))
    for key in "ab":
        price(host, key)
    track(host, "a", 500.0)  # a metric with a limit is missing
    assert tuned.rounds == 0
    track(host, "a", 500.0, p99_ms=187.0)
    track(host, "b", None, failed=True)
    history = tuned.history()
    assert history["metric.p99_ms"].tolist()[0] == 187.0
    assert history["failed"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        (dikin.Predictive(dikin.Ball(2)), {}, "a dikin.Tuner or a study of one, got <Predictive"),
        (tuner(), {"untracked": "none"}, "untracked must be a number, got 'none'"),
    ],
)
def test_arguments_that_cannot_be(given: Any, named: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TunerProvider(given, "revenue", **named)


def test_the_log_says_what_was_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    host = client(TunerProvider(tuner(), "revenue"))
    with caplog.at_level(logging.WARNING, "dikin"):
        track(host, "a", 1.0)
        host.track("revenue", None, TrackingEventDetails(1.0))
    assert "no trial is open under the key 'a': it was never evaluated" in caplog.messages[0]
    assert "needs a targeting key" in caplog.messages[1]


def test_many_threads_tell_each_trial_once() -> None:
    tuned = tuner()
    host = client(TunerProvider(tuned, "revenue"))

    def requests(thread: int) -> None:
        for number in range(25):
            key = f"{thread % 4}/{number}"  # two threads of the same key
            price(host, key)
            track(host, key, 1.0)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(requests, range(8)))
    assert 100 <= tuned.rounds <= tuned.asked <= 200
    assert tuned.open_queries == []


def play_in_two_processes(one: dikin.Study, other: dikin.Study) -> None:
    """A flag is evaluated in one process, and its event comes to another."""
    first, second = TunerProvider(one, "revenue"), TunerProvider(other, "revenue")
    found = first.resolve_float_details("price", -1.0, visit("a"))
    assert found.error_code is None
    second.track("revenue", visit("a"), TrackingEventDetails(500.0))
    assert one.rounds == 0  # the other process does not know the key
    known = {"trial": found.flag_metadata["trial"]}
    for _ in range(2):  # once more, as events may come twice
        second.track("revenue", visit("a"), TrackingEventDetails(500.0, known))
    first.track("revenue", visit("a"), TrackingEventDetails(900.0))
    assert one.rounds == 1
    assert one.history()["value"].tolist() == [500.0]


def test_a_study_in_a_file_and_behind_an_address() -> None:
    with new_file() as store, Serving(store) as service:
        for url, name in ((store, "here"), (service.url, "there")):
            with dikin.Study(url, name, tuner()) as one, dikin.Study(url, name) as other:
                play_in_two_processes(one, other)
