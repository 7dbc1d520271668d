"""Measure the rate of every learner, on losses where it pays its own bound.

Each learner is built anew for a grid of horizons T; the exponent of T in its mean regret is fitted
and set against the proved one. An interrupted run goes on where it was.
"""

from __future__ import annotations

from functools import partial

from evidence.commands import finish, parser
from evidence.rates import FULL, QUICK, Request, rates

if __name__ == "__main__":
    options = parser(__doc__, "rates")
    options.add_argument(
        "--learner", action="append", default=[], help="only this one; may be given several times"
    )
    options.add_argument("--full", action="store_true", help="ten times as far: half an hour")
    chosen = options.parse_args()
    request = Request(
        effort=FULL if chosen.full else QUICK,
        learners=tuple(chosen.learner),
        seed=chosen.seed,
        workers=chosen.workers,
    )
    finish(partial(rates, request, chosen.out))
