# Written by `make stub`.

from dikin.domains.affine import Affine as Affine
from dikin.domains.ball import Ball as Ball
from dikin.domains.box import Box as Box
from dikin.domains.ellipsoid import Ellipsoid as Ellipsoid
from dikin.domains.frombarrier import FromBarrier as FromBarrier
from dikin.domains.intersection import Intersection as Intersection
from dikin.domains.polytope import Polytope as Polytope
from dikin.domains.product import Product as Product
from dikin.domains.simplex import Simplex as Simplex
from dikin.domains.spectrahedron import Spectrahedron as Spectrahedron

__all__: list[str]
