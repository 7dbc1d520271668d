"""The trial of the service's security, and services that it must find wanting."""

from typing import Any

import pytest

from dikin.studies import history
from service import trial
from service.serving import QUICK, Serving


def violations(found: trial.Found) -> list[str]:
    tried = list(found)
    assert tried
    return [text for repelled, text in tried if not repelled]


def test_every_endpoint_needs_a_token_but_two() -> None:
    public = {path for _, path, said in trial.ENDPOINTS if "x-right" not in said}
    assert public == {"/healthz", "/readyz"}


@pytest.mark.parametrize("each", trial.TRIALS)
def test_nothing_is_violated(guarded: Serving, each: Any) -> None:
    assert violations(each(guarded)) == []


def test_nothing_is_run_that_a_name_contains(chromium: Any) -> None:
    assert violations(trial.markup_in_names(chromium)) == []


@pytest.mark.parametrize(
    ("each", "mutant"),
    [
        (
            trial.endpoints_by_tokens,
            "from dikin.service.tokens import Access\nAccess.refuse_unless = lambda *_: None",
        ),
        (
            trial.foreign_pages,
            "from dikin.service import access\naccess._refuse_strangers = lambda *_: None",
        ),
    ],
)
def test_a_service_that_lets_strangers_in_is_found(
    monkeypatch: pytest.MonkeyPatch, each: Any, mutant: str
) -> None:
    monkeypatch.setattr(Serving, "program", f"{mutant}\n{QUICK}")
    with trial.guarded() as running:
        assert violations(each(running))


def test_an_export_with_formulas_is_found(
    guarded: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "FORMULA", ("~",))
    assert violations(trial.formulas_in_exports(guarded))
