"""The certificate: a bound on the regret that is computed along the run.

In the paper's units, with tau_t = tr(H_t^-1), slope_t = d |f~_t(x_t)| = |g_t|* and
omega*(s) = -s - ln(1 - s), the regret after T rounds satisfies E[regret] <= E[C_T],

    C_T = 2 + lambda_0/2 + kappa nu ln T/eta_{T+1} + sum_t cost_t,

    smooth:     cost_t = lambda_t/2 + (beta/2) tau_t/d + (beta + (lambda_t - sigma_t)/2) tau_t/(d+2)
                         + omega*(eta_t slope_t)/eta_t
    Lipschitz:  cost_t = lambda_t/2 + L sqrt(tau_t/d) + L sqrt(tau_t/(d+2))
                         + ((lambda_t - sigma_t)/2) tau_t/(d+2) + omega*(eta_t slope_t)/eta_t

`docs/mathematics.md` has the proof. The functions below are plain arithmetic on numbers, so that
a compiled loop can run the very same source.
"""

from __future__ import annotations

from math import log, log1p, sqrt

from dikin.kernel import compiled


@compiled
def omega_star(s: float) -> float:
    """omega*(s) = -s - ln(1 - s) = sup_tau (s tau - omega(tau)), for 0 <= s < 1."""
    return -s - log1p(-s)


@compiled
def smooth_cost(
    lam: float, sigma: float, trace: float, rate: float, slope: float, dim: float, smoothness: float
) -> float:
    """One round's share of the certificate, beta-smooth losses."""
    exploration = trace * (0.5 * smoothness / dim)
    smoothing = (smoothness + 0.5 * (lam - sigma)) * trace * (1.0 / (dim + 2.0))
    return 0.5 * lam + exploration + smoothing + omega_star(rate * slope) / rate


@compiled
def lipschitz_cost(
    lam: float, sigma: float, trace: float, rate: float, slope: float, dim: float, lipschitz: float
) -> float:
    """One round's share of the certificate, L-Lipschitz losses."""
    both = lipschitz / sqrt(dim) + lipschitz / sqrt(dim + 2.0)
    exploration = sqrt(trace) * both  # the smoothing's first term has the same form
    smoothing = 0.5 * (lam - sigma) * trace * (1.0 / (dim + 2.0))
    return 0.5 * lam + exploration + smoothing + omega_star(rate * slope) / rate


@compiled
def closing_cost(rounds: int, first: float, nu: float, rate: float) -> float:
    """What is added to the rounds' shares: moved comparator, lambda_0, and the barrier there."""
    return 2.0 + 0.5 * first + nu * log(max(rounds, 1)) / rate


# --- the paper's own bound, term by term, before its constants are hidden in O(.) ----------------


@compiled
def paper_smooth_cost(
    lam: float, rate: float, total: float, dim: float, smoothness: float
) -> float:
    """Eqs. (part-1), (part-2), (part-3) and 8 eta d^2 of the stability term, Algorithm 1.

    `total` is S_{t-1}; |H^(-1/2) u|^2 <= 1/(eta S) is used for every direction.
    """
    spread = 1.0 / (rate * total)
    return lam + (1.5 * smoothness + lam) * spread + 8.0 * rate * dim * dim


@compiled
def paper_lipschitz_cost(
    lam: float, rate: float, total: float, dim: float, lipschitz: float
) -> float:
    """Eqs. (part-1-lip), (part-2-lip), (part-3-lip) and 8 eta d^2, Algorithm 2."""
    spread = 1.0 / sqrt(rate * total)
    return lam + (3.0 * lipschitz + 2.0 * lam) * spread + 8.0 * rate * dim * dim


@compiled
def paper_closing_cost(rounds: int, first: float, nu: float, rate: float) -> float:
    """Comparator bias 2, lambda_0/2 |(x, 1)|^2 <= lambda_0, and the lifted barrier's 800 nu."""
    return 2.0 + first + 800.0 * nu * log(max(rounds, 1)) / rate
