# Written by `make stub`.

from dikin.checks import check_domain as check_domain
from dikin.checks import check_learner as check_learner
from dikin.domains.affine import Affine as Affine
from dikin.domains.ball import Ball as Ball
from dikin.domains.base import Domain as Domain
from dikin.domains.box import Box as Box
from dikin.domains.ellipsoid import Ellipsoid as Ellipsoid
from dikin.domains.frombarrier import FromBarrier as FromBarrier
from dikin.domains.intersection import Intersection as Intersection
from dikin.domains.polytope import Polytope as Polytope
from dikin.domains.product import Product as Product
from dikin.domains.simplex import Simplex as Simplex
from dikin.domains.spectrahedron import Spectrahedron as Spectrahedron
from dikin.engine.parallel import replicate as replicate
from dikin.engine.play import Run as Run
from dikin.engine.play import play as play
from dikin.environments.base import Environment as Environment
from dikin.environments.cone import Cone as Cone
from dikin.environments.fromfunction import FromFunction as FromFunction
from dikin.environments.kink import Kink as Kink
from dikin.environments.linear import Linear as Linear
from dikin.environments.logistic_batches import LogisticBatches as LogisticBatches
from dikin.environments.patterns import Constant as Constant
from dikin.environments.patterns import Decaying as Decaying
from dikin.environments.patterns import FlatFirst as FlatFirst
from dikin.environments.patterns import FlatLast as FlatLast
from dikin.environments.pseudo_kink import PseudoKink as PseudoKink
from dikin.environments.quadratic import Quadratic as Quadratic
from dikin.environments.ridge import Ridge as Ridge
from dikin.environments.squared_batches import SquaredBatches as SquaredBatches
from dikin.environments.understated import Understated as Understated
from dikin.errors import DikinError as DikinError
from dikin.learners.adaptive_lipschitz import AdaptiveLipschitz as AdaptiveLipschitz
from dikin.learners.adaptive_smooth import AdaptiveSmooth as AdaptiveSmooth
from dikin.learners.agarwal_dekel_xiao import AgarwalDekelXiao as AgarwalDekelXiao
from dikin.learners.aogd import AOGD as AOGD
from dikin.learners.base import Learner as Learner
from dikin.learners.base import Query as Query
from dikin.learners.discard import Discard as Discard
from dikin.learners.fkm import FKM as FKM
from dikin.learners.hazan_levy import HazanLevy as HazanLevy
from dikin.learners.lipschitz_barrier import LipschitzBarrier as LipschitzBarrier
from dikin.learners.pseudo_line import PseudoLine as PseudoLine
from dikin.learners.reshaped_fkm import ReshapedFKM as ReshapedFKM
from dikin.learners.saha_tewari import SahaTewari as SahaTewari
from dikin.learners.scrible import Scrible as Scrible
from dikin.learners.tewa import Tewa as Tewa
from dikin.learners.two_point import TwoPoint as TwoPoint
from dikin.loading import load as load
from dikin.loading import restore as restore

__all__: list[str]
__version__: str
