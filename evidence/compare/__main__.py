"""Play every learner in every scenario, and write who is best.

Each learner is built from what the scenario declares. Registered learners of your own take part.
An interrupted run goes on where it was.
"""

from __future__ import annotations

from functools import partial

from evidence.commands import finish, parser, positive
from evidence.compare import ROUNDS, Request, compare

if __name__ == "__main__":
    options = parser(__doc__, "comparison")
    options.add_argument(
        "--learner", action="append", default=[], help="only this one; may be given several times"
    )
    options.add_argument(
        "--scenario", action="append", default=[], help="only this scenario or group"
    )
    options.add_argument("--rounds", type=positive, default=ROUNDS)
    options.add_argument("--seeds", type=positive, help="games of a cell")
    options.add_argument("--slow-seeds", type=positive, help="games where no loop is compiled")
    options.add_argument("--most-seeds", type=positive, help="games where the standing is open")
    options.add_argument("--external", action="store_true", help="with pycma and nevergrad")
    chosen = options.parse_args()
    request = Request(
        learners=tuple(chosen.learner),
        scenarios=tuple(chosen.scenario),
        rounds=chosen.rounds,
        seeds=chosen.seeds,
        slow_seeds=chosen.slow_seeds,
        most_seeds=chosen.most_seeds,
        external=chosen.external,
        seed=chosen.seed,
        workers=chosen.workers,
    )
    finish(partial(compare, request, chosen.out))
