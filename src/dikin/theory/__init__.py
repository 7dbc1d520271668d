"""The paper's statements as functions, each naming the statement it encodes.

Luo, Zhang and Zhao, "Adaptive Bandit Convex Optimization with Heterogeneous Curvature" (COLT 2022).
Statements carry the number of the compiled paper and the label of its LaTeX source. Everything here
is in the paper's normalised units: |x| <= 1 on the domain, |f| <= 1.
"""
