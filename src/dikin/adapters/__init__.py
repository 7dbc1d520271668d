"""Doors for programs that already speak the interface of another system.

One module and one extra each: `openfeature` (feature flags), `gest_api` (generators for Xopt and
others), `optuna` (a sampler). Nothing else in the library imports them.
"""
