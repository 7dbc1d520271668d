"""The page "Which learner?" is what its CSVs say."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from matrix_file import read_matrix
from which_learner_page import LEADS, parts_of, recommended

from evidence.compare import matrix
from evidence.compare.matrix import Matrix, Outcome
from evidence.compare.scenarios import SCENARIOS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_a_recommendation_is_sound_and_of_this_library() -> None:
    table = read_matrix(DOCS / "compare")
    for scenario in table.scenarios:
        first, *rest = recommended(table, scenario)
        assert not any(outcome.broken or outcome.sees_more for outcome in (first, *rest))
        assert all(first.mean <= outcome.mean for outcome in rest)
        assert all(outcome.package == "dikin" for outcome in (first, *rest))
    assert {"AdaptiveSmooth", "AdaptiveLipschitz"} <= set(table.learners()) & set(LEADS)


def test_the_committed_run_has_every_scenario_and_keeps_every_certificate() -> None:
    table = read_matrix(DOCS / "compare")
    assert table.scenarios == list(SCENARIOS)
    assert table.exceeding() == []
    assert any(outcome.bounded for outcome in table.outcomes if outcome.played)


# --- what the words say ---------------------------------------------------------------------------


def made(learner: str, scenario: str, mean: float, **changes: Any) -> Outcome:
    """Ten games around a mean, with a spread of a hundredth."""
    regrets = tuple(mean * (1 + 0.01 * (k % 3 - 1)) for k in range(10))
    facts: dict[str, Any] = {
        "group": SCENARIOS[scenario].group,
        "moving": SCENARIOS[scenario].moving,
        "certificates": (3.0 * mean,) * 10,
        "seconds": 0.1,
    }
    return Outcome(learner, scenario, "VALUE", 100, tuple(range(10)), regrets, **(facts | changes))


def page(tmp_path: Path, *outcomes: Outcome) -> str:
    matrix.write(Matrix(outcomes), tmp_path)
    return "\n".join(parts_of(read_matrix(tmp_path)).values())


TWO = (
    made("AdaptiveSmooth", "zero", 100.0),
    made("AdaptiveSmooth", "circling", 300.0),
    made("FKM", "zero", 200.0),
    made("CMA", "zero", 50.0, package="cma", certificates=(nan,) * 10),
    made("CMA", "circling", 400.0, package="cma", certificates=(nan,) * 10),
)


def test_the_page_does_without_learners_that_took_no_part(tmp_path: Path) -> None:
    text = page(tmp_path, *TWO)
    assert (
        "Begin with `AdaptiveSmooth`. Among the learners of this library it has the least mean "
        "regret in 2 of 2 scenarios, is level with the best in 0, behind it in 0, and the games do "
        "not decide in 0."
    ) in text
    assert "In 1 of the 2 scenarios the least mean regret of all is that of an optimizer" in text
    assert "In 1 of these the difference is more than chance explains: `zero` (`CMA`)." in text
    assert "| smooth, not curved (`zero`) | `AdaptiveSmooth` | 100 | 300 | `CMA`, 50 |" in text
    assert "- `CMA` has less regret in `zero` (0.50). It is level in 0 scenarios, behind" in text


def test_the_page_begins_with_predictive_where_that_took_part(tmp_path: Path) -> None:
    rivals = (
        made("Predictive", "zero", 40.0),
        made("Predictive", "circling", 350.0),
        made("Predictive(memory)", "circling", 280.0),
    )
    text = page(tmp_path, *TWO, *rivals)
    assert "Begin with `Predictive`. Among the learners of this library it has the least" in text
    assert "| Predictive | 2 | 1 | 2 | 2 | 1.2 (`circling`) | 1.5 | 1000.0 |" in text
    assert "farthest behind in `circling` (1.2 times `Predictive(memory)`)" in text
    assert "is that of an optimizer of another package" not in text


def test_what_is_not_distinguished_is_not_ordered(tmp_path: Path) -> None:
    """Two learners a tenth of their spread apart: either may be taken."""
    noisy = [made(n, "zero", 100.0) for n in ("AdaptiveSmooth", "FKM")]
    values = 100 + 10 * np.random.default_rng(0).standard_normal((2, 10))
    outcomes = [
        replace(c, regrets=tuple(v.tolist()))
        for c, v in zip(noisy, (values[0], values[1] + 1.0), strict=True)
    ]
    text = page(tmp_path, *outcomes)
    first, second = sorted(outcomes, key=lambda c: c.mean)
    assert f"`{first.learner}`, or `{second.learner}`" in text
    assert "behind it in 0" in text
