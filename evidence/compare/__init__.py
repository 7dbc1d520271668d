"""Every learner in every scenario, and which one to take."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from rich.console import Console

from dikin.errors import CheckFailedError
from dikin.experiments import runner
from dikin.experiments.tables import terminal_table
from evidence.compare import figure
from evidence.compare.matrix import Matrix, write
from evidence.compare.plan import ROUNDS, Match, Request, plan_matches, undecided
from evidence.compare.scenarios import Scenario
from evidence.orderings import BEST, LEVEL


def compare(request: Request, out: Path, console: Console | None = None) -> Matrix:
    """Play the matrix and write compare.csv, games.csv and compare.png into a folder.

    Learners and scenarios of your own take part: see `Request` and `Scenario.own`. Finished cells
    are kept in the folder: an interrupted run goes on where it was.
    """
    console = console or Console()
    matches = plan_matches(request)
    complete = [match for match in matches if not match.left_out]
    results = runner.run(complete, request, out, console)
    matrix = Matrix(tuple(match.outcome(results.get(match.key, [])) for match in matches))
    if request.most_seeds is not None:
        matrix = _play_more(matches, results, request, out, console)
    write(matrix, out)
    if complete:
        show(matrix, console)
        figure.draw(matrix, out / "compare.png")
    console.print(f"{out / 'compare.csv'}, {out / 'games.csv'}, {out / 'compare.png'}")
    refuse_broken_certificates(matrix)
    return matrix


def _play_more(
    matches: list[Match], results: runner.Results, request: Request, out: Path, console: Console
) -> Matrix:
    """Return the matrix after learners whose standing was open played more games."""
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


def show(matrix: Matrix, console: Console) -> None:
    """Print for each learner its median ratio to the best, and how often it is best or level."""
    played = {
        name: [one for one in matrix.outcomes if one.learner == name and one.played]
        for name in matrix.learners()
    }
    columns = {
        "learner": lambda name: name,
        "scenarios": lambda name: len(played[name]),
        "median ratio": lambda name: f"{median(map(matrix.ratio, played[name])):.2f}",
        "best or level": lambda name: sum(matrix.mark(c) in (BEST, LEVEL) for c in played[name]),
    }
    console.print(
        terminal_table(
            columns, played, title=f"Regret after {matrix.rounds:,} rounds over the best"
        )
    )
    for reason, outcomes in matrix.absent().items():
        where = ", ".join(outcome.scenario for outcome in outcomes)
        console.print(f"Left out of {where}: {reason}", style="dim", highlight=False)


def refuse_broken_certificates(matrix: Matrix) -> None:
    """Raise an error if a mean regret exceeds its certificate: the proof or the code is wrong."""
    broken = [
        f"{c.learner} in {c.scenario}: mean regret {c.mean:.6g}, mean certificate "
        f"{c.certificate:.6g}, {len(c.seeds)} games"
        for c in matrix.exceeding()
    ]
    if broken:
        raise CheckFailedError("regret exceeds its certificate. " + "; ".join(broken))


__all__ = ["ROUNDS", "Request", "Scenario", "compare"]
