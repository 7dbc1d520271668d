"""Geometry: convex sets with self-concordant barriers, one file per set.

`from dikin.domains import Box`: `dikin.registry.fill` puts every class here.
"""
