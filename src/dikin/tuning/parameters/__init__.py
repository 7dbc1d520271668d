"""Kinds of parameters, one file a kind.

`from dikin.tuning.parameters import Real`: `dikin.registry.fill` puts every class here.
"""
