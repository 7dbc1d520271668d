"""Strong convexity and smoothness of losses that are sums over known contexts.

    f(x) = sum_i w_i g_i(c_i.x),      contexts c_i, weights w_i >= 0 (1/n for a mean),

is at least sigma-strongly convex and at most beta-smooth on a domain, where sigma and beta are the
extreme eigenvalues of weighted Gram matrices of the contexts in the domain's own plane. Every lower
bound is rigorous, rounding included. Understating curvature is safe, overstating it is not.
"""

from dikin.curvature.contexts import Curvature, of_contexts

__all__ = ["Curvature", "of_contexts"]
