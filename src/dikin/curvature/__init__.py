"""Strong convexity and smoothness of losses that are sums over known contexts."""

from dikin.curvature.contexts import Curvature, of_contexts

__all__ = ["Curvature", "of_contexts"]
