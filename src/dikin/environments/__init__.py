"""Adversaries: environments that fix every loss before the game begins.

`from dikin.environments import Ridge`: `dikin.registry.fill` puts every class here.
"""
