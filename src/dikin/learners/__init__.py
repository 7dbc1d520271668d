"""Algorithms: learners that are asked for a point and told one number about it.

`from dikin.learners import FKM`: `dikin.registry.fill` puts every class here.
"""
