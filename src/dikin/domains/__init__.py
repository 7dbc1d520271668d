"""Geometry: convex sets with self-concordant barriers, one file per set."""

from dikin.domains.affine import Affine
from dikin.domains.ball import Ball
from dikin.domains.box import Box
from dikin.domains.ellipsoid import Ellipsoid
from dikin.domains.polytope import Polytope
from dikin.domains.product import Product
from dikin.domains.simplex import Simplex
from dikin.domains.spectrahedron import Spectrahedron

__all__ = [
    "Affine",
    "Ball",
    "Box",
    "Ellipsoid",
    "Polytope",
    "Product",
    "Simplex",
    "Spectrahedron",
]
