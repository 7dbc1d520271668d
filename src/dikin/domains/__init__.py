"""Geometry: convex sets with self-concordant barriers, one file a set."""
