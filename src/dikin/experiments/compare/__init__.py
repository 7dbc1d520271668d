"""`dikin compare`: every learner in every scenario, and which one to take."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from dikin.errors import CheckFailedError
from dikin.experiments import runner
from dikin.experiments.compare import figure
from dikin.experiments.compare.matrix import Matrix, write
from dikin.experiments.compare.plan import Match, Request, plan_matches, undecided
from dikin.experiments.compare.scenarios import Scenario
from dikin.experiments.compare.screen import show


def compare(request: Request, out: Path, console: Console | None = None) -> Matrix:
    """Play the matrix and write compare.csv, games.csv and compare.png into a folder.

    Learners, domains and environments of your own take part: see `Request` and `Scenario.own`.
    Finished cells are kept in the folder: an interrupted run goes on where it was.
    """
    console = console or Console()
    matches = plan_matches(request)
    complete = [match for match in matches if not match.left_out]
    results = runner.run(complete, request, out, console)
    matrix = Matrix(tuple(match.outcome(results.get(match.key, [])) for match in matches))
    if request.most_seeds is not None:
        matrix = _play_more(matches, results, request, out, console)
    write(matrix, out)
    show(matrix, console)
    if complete:
        figure.draw(matrix, out / "compare.png")
        console.print(f"{out / 'compare.csv'}, {out / 'games.csv'}, {out / 'compare.png'}")
    refuse_broken_certificates(matrix)
    return matrix


def _play_more(
    matches: list[Match], results: runner.Results, request: Request, out: Path, console: Console
) -> Matrix:
    """The matrix after a second look: where the standing of a learner was open, it plays more."""
    most = request.most_seeds or 0
    first = {match.key: results.get(match.key, []) for match in matches}
    looked = Matrix(tuple(match.outcome(g := first[match.key], len(g)) for match in matches))
    more = undecided(matches, looked, most)
    console.print(f"{len(more)} cells whose standing is open play {most} games.")
    results = runner.run([*more.values()], request, out, console)
    second = {key: results[match.key] for key, match in more.items()}
    return Matrix(
        tuple(
            match.outcome(first[match.key] + second.get(match.key, []), len(first[match.key]))
            for match in matches
        )
    )


def refuse_broken_certificates(matrix: Matrix) -> None:
    """A certificate below the regret that it bounds would be an error of ours: say so loudly."""
    broken = [
        f"{c.learner} in {c.scenario}: mean regret {c.mean:.6g}, mean certificate "
        f"{c.certificate:.6g}, {len(c.seeds)} games"
        for c in matrix.exceeding()
    ]
    if broken:
        raise CheckFailedError("regret exceeds its certificate. " + "; ".join(broken))


__all__ = ["Request", "Scenario", "compare"]
