"""Doors for programs that already speak the interface of another system.

One module and one extra each: `openfeature` (feature flags), `gest_api` (generators for Xopt and
others), `optuna` (a sampler). `attributes` says which of a host's attributes are contexts and
covariates of a tuner. Nothing else in the library imports them.
"""
