"""Runs. Read `plain_rounds` first: a round is ask, answer, tell.

`play` compiles a long run automatically if learner and environment both have kernels. The formulas
are the same, and so are the results, to a few units in the last place.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dikin.arguments import is_whole
from dikin.domains.base import Array
from dikin.engine.jit import compiled_loop, worth_compiling
from dikin.engine.loop import UnitConversion, Workspace
from dikin.engine.progress import Progress
from dikin.environments.base import Environment
from dikin.errors import CertificateWarning, ParameterError, shown
from dikin.feedback import Feedback
from dikin.learners.base import Learner
from dikin.learners.kernel_learner import KernelLearner

Advance = Callable[[int], None]
"""Run that many rounds."""


def plain_rounds(learner: Learner, environment: Environment) -> Advance:
    """Any learner against any environment, one number and one curvature at a time.

    Curvature is reported up to a learner's assumptions: understating is safe.
    """
    needs_context = learner.feedback is Feedback.CONTEXT

    def advance(rounds: int) -> None:
        chances, played = environment.chances.bit_generator.state, learner.rounds
        for _ in range(rounds):
            sums = environment.sums.copy()
            query = learner.ask(environment.context()) if needs_context else learner.ask()
            try:
                loss, curvature = environment.answer(query.point, learner.feedback)
                learner.tell(query, loss, min(curvature, learner.curvature_limit[0]))
            except BaseException:  # as if the round had not been played, unless it was learnt from
                if learner.rounds < environment.rounds:
                    environment.rounds, environment.sums[:] = learner.rounds, sums
                environment.chances.bit_generator.state = chances
                environment.chances.random(learner.rounds - played)
                if query.id in learner._open:
                    learner.forget(query)
                raise

    return advance


@dataclass(frozen=True)
class Run:
    """A run at log-spaced checkpoints. Losses and regret are in the user's units.

    Parameters
    ----------
    checkpoints : numpy.ndarray of int
        The rounds after which regret, certificate and loss were taken. The last is the end.
    regret : numpy.ndarray
        Loss suffered minus that of the best fixed point for the rounds so far.
    certificate : numpy.ndarray
        The bound on the expected regret, or NaN for a learner without a certificate.
    cumulative_losses : numpy.ndarray
        Loss suffered in all rounds so far.
    comparator : numpy.ndarray
        The best fixed point for all rounds.
    compiled : bool
        True if the compiled loop was used.
    seconds : float
        Duration, compiling included.
    """

    checkpoints: NDArray[np.int64]
    regret: Array
    certificate: Array
    cumulative_losses: Array
    comparator: Array
    compiled: bool
    seconds: float

    def __repr__(self) -> str:
        how = "compiled" if self.compiled else "plain Python"
        return (
            f"Run({self.checkpoints[-1]} rounds, regret {self.regret[-1]:.6g}, certificate "
            f"{self.certificate[-1]:.6g}, {self.seconds:.2g} s, {how})"
        )

    @property
    def total_loss(self) -> float:
        """Loss suffered in all rounds."""
        return float(self.cumulative_losses[-1])


def play(
    learner: Learner,
    environment: Environment,
    rounds: int,
    *,
    checkpoints: int = 20,
    progress: bool = True,
) -> Run:
    """Run a learner in an environment. A second call with the same two continues the run.

    Parameters
    ----------
    learner : Learner
        The learner that plays, which has played as many rounds as the environment.
    environment : Environment
        The environment that answers, on the same domain.
    rounds : int
        Number of rounds, at least 1.
    checkpoints : int, default 20
        Number of checkpoints for every factor of ten in the rounds.
    progress : bool, default True
        True if a progress bar may appear, on a terminal, after two seconds.

    Returns
    -------
    Run
        Regret, certificate and cumulative loss at the checkpoints.

    Raises
    ------
    ParameterError
        If learner and environment differ in domain, rounds, feedback or range of losses.

    Warns
    -----
    CertificateWarning
        If the losses are less smooth or steeper than the learner assumes.

    Examples
    --------
    >>> from dikin import AdaptiveSmooth, Ball, Ridge
    >>> world = Ridge(Ball(2), smoothness=1.0, seed=1)
    >>> learner = AdaptiveSmooth(Ball(2), 1.0, loss_range=world.loss_range, seed=1)
    >>> run = play(learner, world, 1000)
    >>> bool(0 < run.regret[-1] < run.certificate[-1])
    True
    """
    return run_rounds(learner, environment, rounds, checkpoints, progress, runs=1)


def run_rounds(
    learner: Learner,
    environment: Environment,
    rounds: int,
    checkpoints: int,
    progress: bool,
    runs: int,
) -> Run:
    """`play`, as one of so many runs: the length of all decides whether they are compiled."""
    _refuse_mismatch(learner, environment, rounds)
    fast = compiled_rounds(learner, environment) if worth_compiling(rounds, runs) else None
    advance = plain_rounds(learner, environment) if fast is None else fast
    marks = log_spaced(rounds, checkpoints) + environment.rounds
    rows: list[tuple[float, float, float]] = []
    start = time.perf_counter()
    with Progress(rounds, progress) as bar:
        for mark in marks.tolist():
            bar.advance(advance, mark - environment.rounds)
            suffered, best = environment.total_loss, environment.best()[1]
            rows.append((suffered - best, learner.certificate, suffered))
    regret, certificate, cumulative = (np.array(column) for column in zip(*rows, strict=True))
    return Run(
        checkpoints=marks,
        regret=regret,
        certificate=certificate,
        cumulative_losses=cumulative,
        comparator=environment.best()[0],
        compiled=fast is not None,
        seconds=time.perf_counter() - start,
    )


def log_spaced(rounds: int, per_decade: int) -> NDArray[np.int64]:
    """Return whole numbers from 1 to `rounds`, evenly spaced on a logarithmic scale."""
    count = max(2, round(np.log10(rounds) * per_decade) + 1)
    return np.unique(np.geomspace(1, rounds, count).round().astype(np.int64))


def compiled_rounds(learner: Learner, environment: Environment) -> Advance | None:
    """Return `plain_rounds` in machine code.

    None if learner or environment lacks a kernel that compiles, if a query is open, or if
    a loss may restart the learner.
    """
    losses = environment.kernel
    if not isinstance(learner, KernelLearner) or learner.compiled_state() is None:
        return None
    if learner.may_restart or not compiles(losses):
        return None
    kernel, units, space = learner._kernel, UnitConversion.of(learner), Workspace.of(learner)
    loop = compiled_loop(kernel, losses)

    def advance(rounds: int) -> None:
        with learner._open.lock:  # other threads ask and tell before or after these rounds
            state, sums = learner.compiled_state(), environment.sums.copy()
            assert state is not None
            drawn, before = learner._noise.drawn, environment.chances.bit_generator.state
            players = kernel, losses, units, state, space, sums
            try:
                while learner._noise.drawn < drawn + rounds:
                    played = learner._noise.drawn - drawn
                    generator, left = learner._noise.generator()
                    count = min(rounds - played, left)
                    loop(
                        *players, generator, environment.chances, environment.rounds + played, count
                    )
                    learner._noise.drawn += count
            except BaseException:  # Ctrl-C is heard when the loop returns: no round counts
                environment.chances.bit_generator.state = before
                learner._noise.seek(drawn)
                raise
            learner._take_over(state, rounds)
            environment.sums[:] = sums
            environment.rounds += rounds

    return advance


def compiles(losses: Any) -> bool:
    """Return whether an environment's kernel can be compiled: plain Python inside it cannot."""
    if isinstance(losses, tuple) and hasattr(losses, "_fields"):
        return all(map(compiles, losses))
    return isinstance(losses, int | float | np.ndarray) or hasattr(losses, "py_func")


def _refuse_mismatch(learner: Learner, environment: Environment, rounds: int) -> None:
    if not is_whole(rounds) or rounds < 1:
        raise ParameterError(f"rounds must be a positive whole number, got {shown(rounds)}")
    if not isinstance(environment, Environment):
        raise ParameterError(
            f"play needs an environment such as Ridge, got {shown(environment)}; a loss of your "
            "own becomes one with FromFunction"
        )
    if not isinstance(learner, Learner):
        raise ParameterError(f"play needs a learner such as FKM(domain, ...), got {shown(learner)}")
    ours, theirs = learner.domain, environment.domain
    if ours is not theirs and ours.spec() != theirs.spec():
        raise ParameterError(
            f"the learner plays on {ours} and the environment on another domain, {theirs}: "
            "give both the same"
        )
    if learner.rounds != environment.rounds:
        raise ParameterError(
            f"the learner has played {learner.rounds} rounds and the environment "
            f"{environment.rounds}: continue a run with the same two, or begin with two new ones"
        )
    if learner.feedback not in environment.offers:
        raise ParameterError(
            f"{type(learner).__name__} must be told {learner.feedback.value}; "
            f"{environment} does not offer it"
        )
    low, high = environment.loss_range
    least, most = learner.accepts
    slack = 1e-9 * (high - low)
    if low < least - slack or high > most + slack:
        raise ParameterError(
            f"losses lie in ({low:g}, {high:g}) but the learner was built for ({least:g}, "
            f"{most:g}); give it loss_range=environment.loss_range"
        )
    for name in ("smoothness", "lipschitz"):
        true, assumed = getattr(environment, name), getattr(learner, name, None)
        if assumed is not None and not (isnan(true) or true <= assumed * (1 + 1e-9)):
            warnings.warn(
                f"the learner assumes {name}={assumed:g} and the losses have {true:g}: "
                "its certificate does not hold for this run",
                CertificateWarning,
                stacklevel=4,  # where `play` was called
            )
