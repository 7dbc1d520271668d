"""A service keeps parameters of every kind, those of a user's own too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import dikin
from service.serving import QUICK, Serving
from tables import scratch
from tuning.parameters.own_kinds import Odd
from tuning.parameters.test_kinds import NEW, cost, played


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    scratch(monkeypatch)
    dikin.register(Odd)


class OwnServing(Serving):
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "import dikin; from tuning.parameters.own_kinds import Odd\n"
        f"dikin.register(Odd)\n{QUICK}"
    )


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with OwnServing(str(tmp_path_factory.mktemp("kinds") / "a.db")) as running:
        yield running


def test_the_service_and_the_data_of_its_page(service: Serving) -> None:
    spec = {"tuner": {name: each.spec() for name, each in NEW.items()}, "seed": 3}
    assert service.send("PUT", "/v1/studies/a", spec).status == 201
    with dikin.Study(service.url, "a") as study:
        for _ in range(120):
            trial = study.ask()
            study.tell(trial, cost(trial.params))
        assert study.best == played(120).best
        assert len(study.history()) == 120
    said = service.send("GET", "/v1/studies/a").content
    assert said["columns"] == ["batch", "size", "odd", "codec"]
    assert said["ranges"] == [[0, 3], [0, 2], [1, 9], [0, 1]]
    assert said["log"] == [False] * 4
    assert said["labels"][:3] == [["16", "32", "64", "128"], ["small", "medium", "large"], []]
    assert said["start"] == {"batch": 32, "size": "medium", "odd": 3, "codec": "lz4"}
    assert service.send("GET", "/metrics").status == 200
    point = {"id": 119, "value": 1, "point": [99, -7, 3, 0]}
    assert service.send("POST", "/v1/studies/a/tell", point).status == 409
    bad = {"tuner": {"p": {"kind": "odd", "last": 4}}}
    status, _, detail = service.problem("PUT", "/v1/studies/b", bad)
    assert (status, "p: last must be odd, got 4" in detail) == (422, True)
