"""`dikin.Study("http://...")` does what a study in a database does: values, errors, bits."""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import dikin
from dikin import errors
from dikin.cli import main
from dikin.studies import remote
from service.proxy import LossyProxy
from service.serving import Serving, shop


def tuner() -> dikin.Tuner:
    return dikin.Tuner(
        {
            "price": dikin.Real(1, 14, start=4),
            "level": dikin.Integer(1, 9),
            "split": dikin.Shares(["a", "b"]),
        },
        maximize=True,
        constraints=["price <= 13"],
        seed=7,
    )


def plain(study: dikin.Study, t: int) -> dikin.Trial:
    """A round with failures and metrics."""
    trial = study.ask()
    if t % 7 == 6:
        study.tell(trial, failed=True)
    else:
        kind = (float, Decimal, Fraction, np.float32, np.array)[t % 5]
        study.tell(trial, kind(float(trial.point[0])), metrics={"p99_ms": t})
    return trial


def informed(study: dikin.Study, t: int) -> dikin.Trial:
    """A round with covariates, when asked and with the value."""
    known = {"load": t % 7, "hour": t % 24, "weekend": t % 3 == 0} if t % 4 else None
    trial = study.ask(covariates=known)
    study.tell(trial, float(t % 5), covariates={"kind": "ab"[t % 2]})
    return trial


FLEET = {"region": ["eu", "us"], "hour": dikin.Cycle(24), "load": (0, 1)}


def in_contexts(study: dikin.Study, t: int) -> dikin.Trial:
    """A round of a tuner with contexts."""
    hour, load = (np.int64(5 * t), t % 5 / 4) if t < 8 else (0, 0)
    trial = study.ask({"region": ("eu", "us")[t % 2], "hour": hour, "load": load})
    study.tell(trial, (trial["price"] - 3 - 5 * (t % 2)) ** 2)
    return trial


def limited(study: dikin.Study, t: int) -> dikin.Trial:
    """A round of a tuner with a choice, limits and failures."""
    trial = study.ask()
    cost = abs(trial["pool"] - 60) / 60 + (trial["codec"] != "lz4")
    if t % 10 == 9:
        study.tell(trial, failed=True)
    else:
        study.tell(trial, cost, metrics={"p99_ms": 150 + 10 * cost})
    return trial


def added(study: dikin.Study, t: int) -> dikin.Trial:
    """A round beside trials that were not asked for, other parameters, and pauses."""
    if t % 5 == 1:
        split = {"a": 0.25, "b": 0.75}
        study.add_trial({"price": 2.0 + t % 3, "level": 3, "split": split}, 4.0)
    if t == 12:
        study.set_parameters(
            {"price": dikin.Real(1, 12), "level": dikin.Integer(1, 9), "split": SPLIT},
            ["price <= 11"],
        )
    if t in (20, 25):
        (study.pause if t == 20 else study.resume)()
    return plain(study, t)


SPLIT = dikin.Shares(["a", "b"])

CODECS = {
    "codec": dikin.Choice(["lz4", "zstd", "none"], start="zstd"),
    "pool": dikin.Integer(1, 1000, start=8, log=True),
}
MADE: dict[Any, Callable[[], dikin.Tuner]] = {
    plain: tuner,
    informed: tuner,
    added: tuner,
    in_contexts: lambda: dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, context=FLEET, seed=7),
    limited: lambda: dikin.Tuner(CODECS, limits=["p99_ms <= 200", "failed <= 0.01"], seed=7),
}


@pytest.mark.parametrize("round", MADE)
def test_the_same_rounds_bit_for_bit(service: Serving, file: str, round: Any) -> None:
    """Points, forecasts, history, state and words, here and over HTTP."""
    place = {"region": "us", "hour": 24, "load": 0.25} if round is in_contexts else None
    made, name = MADE[round], round.__name__
    with dikin.Study(file, name, made()) as here, dikin.Study(service.url, name, made()) as there:
        for t in range(30):
            ours, theirs = round(here, t), round(there, t)
            for part in ("params", "context", "covariates", "expected", "paused"):
                np.testing.assert_equal(getattr(theirs, part), getattr(ours, part), part)
        assert there.state() == here.state()
        one, other = here.history(), there.history()
        assert one.dtype == other.dtype
        for column in set(one.dtype.names or ()) - {"time", "client"}:
            np.testing.assert_array_equal(one[column], other[column], column)
        own = ("time", "client")
        for ours, theirs in zip(here.records(5, 9), there.records(5, 9), strict=True):
            assert {k: v for k, v in ours.items() if k not in own} == {
                k: v for k, v in theirs.items() if k not in own
            }
        assert str(there.recommend(place)) == str(here.recommend(place))
        assert there.best_for(place) == here.best_for(place)
        for constants in ({"lipschitz": 1.0}, {"smoothness": 2.0}):
            bounds = [each.certificate_for(**constants) for each in (here, there)]
            np.testing.assert_equal(*bounds)
        assert list(there.status().lines())[1:] == list(here.status().lines())
        assert there.history(11, 20)["round"].tolist() == list(range(11, 21))
        with dikin.Study(service.store, name) as stored:
            assert stored.verify().rows == here.verify().rows
            assert stored.trim(11) == here.trim(11)
        assert there.history()["round"][0] == 11


def test_an_added_trial_counts_once(service: Serving, file: str) -> None:
    params = {"price": 3.0, "level": 2, "split": {"a": 0.5, "b": 0.5}}

    def rows(store: str) -> int:
        with dikin.Study(store, "added once") as study:
            return study.verify().rows

    for url, store in ((file, file), (service.url, service.store)):
        with dikin.Study(url, "added once", tuner()) as study:
            trial = study.ask(key="k")
            for _ in range(2):
                study.add_trial(params, 2.0, key="k")
            assert rows(store) == 2
            study.add_trial(params, 2.0)
            study.add_trial(params, failed=True, key="other")
            assert rows(store) == 4
            assert study.ask(key="k").id == trial.id
    with LossyProxy(service.port) as proxy, dikin.Study(service.url, "added once") as study:
        study._ledger.url = proxy.url  # type: ignore[attr-defined]
        study.add_trial(params, 2.0)
        assert proxy.lost == 1
    assert rows(service.store) == 5


def test_a_tuner_over_http(service: Serving) -> None:
    with shop(service.url, "tuner", rounds=20) as study:
        assert repr(study) == f"<Study 'tuner' at {service.url}>"
        trial, summary = study.ask(), study.summary()
        assert (summary.rounds, summary.open.count) == (20, 1)
        assert study.best == summary.best
        study.ask()
        first, second = study.open_queries
        assert (first.id, first.params, first.client) == (trial.id, trial.params, study.client)
        assert first.asked.tzinfo is not None
        study.tell(first, 1.0)
        study.forget(second)
        study.forget(second)
        status = study.status()
        assert (status.rounds, status.open.count, status.open.first) == (21, 0, None)
        again = study.ask(key="schlüssel")
        assert study.ask(key="schlüssel") == again
        with pytest.raises(errors.ParameterError, match="covariates"):
            study.ask(key="schlüssel", covariates={"load": 1.0})


@pytest.mark.parametrize("name", ["a/b", "ü ?#%2F&", "..a", "<b>\"'", "a%2Fb", "+", "v1/studies"])
def test_any_name_that_a_database_takes(service: Serving, name: str) -> None:
    with dikin.Study(service.url, name, tuner()) as study:
        study.tell(study.ask(), 1.0)
        assert study.rounds == 1
    assert name in dikin.Study.names(service.url)
    with dikin.Study(service.url, name) as study:
        assert study.rounds == 1
        dikin.Study.delete(service.url, name)
        with pytest.raises(errors.UnknownStudyError):
            study.ask()
    assert name not in dikin.Study.names(service.url)


def test_two_spellings_of_a_letter_are_one_name(service: Serving, file: str) -> None:
    for url in (file, service.url):
        dikin.Study(url, "scho\u0308n", tuner()).close()
        with dikin.Study(url, "sch\u00f6n") as study:
            assert study.rounds == 0
        assert "sch\u00f6n" in dikin.Study.names(url)


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_that_no_address_can_have(service: Serving, name: str) -> None:
    with pytest.raises(errors.DikinError):
        dikin.Study(service.url, name, tuner())
    assert name not in dikin.Study.names(service.url)


Act = Callable[[Any], Any]
MISTAKES: dict[str, tuple[type[Exception], Act]] = {
    "no number": (errors.LossError, lambda study: study.tell(0, "x")),
    "nan": (errors.LossError, lambda study: study.tell(0, math.nan)),
    "decimal nan": (errors.LossError, lambda study: study.tell(0, Decimal("nan"))),
    "huge": (errors.LossError, lambda study: study.tell(0, 10**400)),
    "failed with a value": (errors.LossError, lambda study: study.tell(0, 1.0, failed=True)),
    "half failed": (errors.ParameterError, lambda study: study.tell(0, failed="yes")),
    "metrics without names": (errors.LossError, lambda study: study.tell(0, 1.0, metrics=[2.0])),
    "no metric": (errors.LossError, lambda study: study.tell(0, 1.0, metrics={"p99_ms": "x"})),
    "recommended nowhere": (errors.ContextError, lambda study: study.recommend({"region": "eu"})),
    "never asked": (errors.UnknownQueryError, lambda study: study.tell(77, 1.0)),
    "no id": (errors.UnknownQueryError, lambda study: study.tell("a", 1.0)),
    "exchanged": (
        errors.UnknownQueryError,
        lambda study: study.tell(1.0, dikin.Query(0, np.array([1.0, 1.0]))),
    ),
    "forgotten": (errors.ClosedQueryError, lambda study: study.tell(1, 1.0)),
    "answered": (errors.AnsweredError, lambda study: study.tell(2, 3.0)),
    "foreign": (errors.QueryError, lambda study: study.tell(dikin.Query(0, np.array([1.0])), 1.0)),
    "context": (errors.ContextError, lambda study: study.ask({"hour": 1.0})),
    "no n": (errors.ParameterError, lambda study: study.ask(n=0)),
    "half n": (errors.ParameterError, lambda study: study.ask(n=1.5)),
    "no constant": (errors.ParameterError, lambda study: study.certificate_for()),
    "history": (errors.ParameterError, lambda study: study.history(0)),
    "list": (errors.LossError, lambda study: study.tell(0, [1.0, 2.0])),
    "true as an id": (errors.UnknownQueryError, lambda study: study.tell(True, 1.0)),
    "trial of another tuner": (errors.QueryError, lambda study: study.tell(tuner().ask(), 1.0)),
    "other tuner": (
        errors.StudyExistsError,
        lambda study: type(study)(
            study.address, study.name, dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1)
        ),
    ),
}

OTHER_WORDS = {"other tuner", "trial of another tuner"}
"""The words name the place, or a point without its names; the class of the error is the same."""


def single() -> dikin.Tuner:
    return dikin.Tuner({"x": dikin.Real(0, 10)}, seed=7)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_same_errors(service: Serving, file: str, mistake: str) -> None:
    error, act = MISTAKES[mistake]

    def raised(url: str) -> tuple[type, str]:
        with dikin.Study(url, f"mistake {mistake}", single()) as study:
            study.address = url  # type: ignore[attr-defined]
            study.ask(n=3)
            study.forget(1)
            study.tell(2, 1.0)
            before = study.state()
            with pytest.raises(errors.DikinError) as caught:
                act(study)
            assert study.state() == before
            return type(caught.value), str(caught.value)

    kind, words = raised(file)
    theirs, said = raised(service.url)
    assert theirs is kind is error
    if mistake not in OTHER_WORDS:
        assert said == words


def test_a_study_knows_whether_it_was_created(service: Serving, file: str) -> None:
    for url in (file, service.url):
        created = []
        for given in (tuner(), tuner(), None):
            with dikin.Study(url, "created", given, patience=60.0) as study:
                created.append(study.created)
        assert created == [True, False, False]


def test_what_only_a_service_has(service: Serving, file: str) -> None:
    with pytest.raises(errors.ParameterError, match="a token is for a service"):
        dikin.Study(file, "own", tuner(), token="dikin_x")
    with pytest.raises(errors.ParameterError, match="a token is for a service"):
        dikin.Study.names(file, token="dikin_x")
    with pytest.raises(errors.ParameterError, match="token create"):
        dikin.Study(service.url, "own", token="a\nb")
    with pytest.raises(errors.ParameterError, match=f"alone, such as {service.url};"):
        dikin.Study(service.url + "/v1/studies", "own")


def test_a_service_that_is_away() -> None:
    with pytest.raises(errors.StoreError, match=r"http://127\.0\.0\.1:9 is unavailable: .*refused"):
        dikin.Study("http://127.0.0.1:9", "shop", patience=0.2)


def test_the_command_line_speaks_to_a_service(service: Serving) -> None:
    def run(*words: str) -> str:
        done = CliRunner().invoke(main, ["study", *words, "--url", service.url])
        assert done.exit_code == 0, done.output
        return done.output

    run("create", "by hand", "--param", "price=1:14:4", "--maximize")
    assert '{"id": 0, "params": {"price"' in run("ask", "by hand")
    assert run("tell", "by hand", "0", "5") == "recorded\n"
    assert "larger is better" in run("show", "by hand")
    assert "by hand\t1 rounds" in run("list")
    assert run("export", "by hand").count("\n") == 2
    run("delete", "by hand", "--yes")
    assert "by hand" not in run("list")


@contextmanager
def answering(status: int, kind: str, body: bytes, **headers: str) -> Iterator[str]:
    """A server that answers everything with the same."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            for name, text in {"Content-Type": kind, **headers}.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - as the base class calls them

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        threading.Thread(target=made.serve_forever).start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()


def test_a_page_that_answers_in_its_place_is_no_success(service: Serving) -> None:
    """A tell that a page to sign in to has answered was not told."""
    with shop(service.url, "portal") as study:
        trial, there = study.ask(), study._ledger.url
        with answering(200, "text/html", b"<p>Sign in") as portal:
            study._ledger.url = portal
            for act in (lambda: study.tell(trial, 1.0), study.pause, study.ask):
                with pytest.raises(errors.StoreError, match="is not a dikin service: it sent text"):
                    act()
            with pytest.raises(errors.StoreError, match="is not a dikin service"):
                dikin.Study.delete(portal, "portal")
        with (
            answering(301, "text/html", b"", Location="https://there.example/") as moved,
            pytest.raises(errors.StoreError, match=r"to https://there\.example/: use that"),
        ):
            dikin.Study(moved, "portal")
        study._ledger.url = there
        assert study.rounds == 0


def test_an_answer_that_is_lost(service: Serving) -> None:
    """The request is sent again: what was deleted is gone, and what was asked is asked once."""
    with shop(service.url, "lost") as study:
        with LossyProxy(service.port) as proxy:
            study._ledger.url = proxy.url
            assert study.ask().id == 0
            study._ledger.close()
        assert proxy.lost == 1
    with shop(service.url, "lost") as study:
        assert len(study.open_queries) == 1
    with LossyProxy(service.port) as proxy:
        dikin.Study.delete(proxy.url, "lost")
        assert proxy.lost == 1
    assert "lost" not in dikin.Study.names(service.url)


def test_a_closed_study_and_a_new_name(service: Serving) -> None:
    shop(service.url, "renamed").close()
    study = dikin.Study(service.url, "renamed", client="zwölf")
    study.ask()
    assert study.open_queries[0].client == "zwölf"
    assert study.client == "zwölf"
    study.close()
    with pytest.raises(errors.StateError, match="was closed"):
        study.ask()


def test_more_than_a_page_at_once(service: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "AT_ONCE", 4)
    with shop(service.url, "pages", rounds=6) as study:
        ids = [trial.id for trial in study.ask(n=10, key="k")]
        assert [trial.id for trial in study.ask(n=10, key="k")] == ids
        assert [query.id for query in study.open_queries] == ids
        page = service.send("GET", f"/v1/studies/pages/open?after={ids[1]}&limit=5").content
        assert [query["id"] for query in page["queries"]] == ids[2:7]
        assert len(study.history()) == 6


def test_addresses(service: Serving) -> None:
    with pytest.raises(errors.ParameterError, match="no user and password"):
        dikin.Study("https://ops:hush@there.example", "x")
    assert remote._checked_address("https://v1.example.com/") == "https://v1.example.com"
    assert remote._checked_address("https://a.example/dikin") == "https://a.example/dikin"
