"""The paper's statements as functions, each naming the statement it encodes.

Luo, Zhang and Zhao, "Adaptive Bandit Convex Optimization with Heterogeneous Curvature" (COLT 2022).
Statements carry the number of the compiled paper and the label of its LaTeX source. A `Setting`,
smooth or Lipschitz losses, comes first in all: `schedules` says how much regularisation a round
adds there and what the best choice in hindsight would have cost, `theorems` turns that into regret
bounds, without constants as in the paper and with those of this library, `rates` holds the two
tables. `certificate` is what is known of the regret while a learner plays.
Everything here is in the paper's normalised units: |x| <= 1 on the domain, |f| <= 1.
"""
