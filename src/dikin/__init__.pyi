# Written by `make stub`.

from dikin.checks import check_domain as check_domain
from dikin.checks import check_learner as check_learner
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
from dikin.errors import DikinError as DikinError
from dikin.learners.adaptive_lipschitz import AdaptiveLipschitz as AdaptiveLipschitz
from dikin.learners.adaptive_smooth import AdaptiveSmooth as AdaptiveSmooth
from dikin.learners.base import Learner as Learner
from dikin.learners.base import Query as Query
from dikin.loading import load as load
from dikin.loading import restore as restore

__all__: list[str]
__version__: str
