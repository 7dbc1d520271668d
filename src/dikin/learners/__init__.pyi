# Written by `make stub`.

from dikin.learners.adaptive_lipschitz import AdaptiveLipschitz as AdaptiveLipschitz
from dikin.learners.adaptive_smooth import AdaptiveSmooth as AdaptiveSmooth
from dikin.learners.agarwal_dekel_xiao import AgarwalDekelXiao as AgarwalDekelXiao
from dikin.learners.aogd import AOGD as AOGD
from dikin.learners.bandit_newton import BanditNewton as BanditNewton
from dikin.learners.bluefin import Bluefin as Bluefin
from dikin.learners.corral import Corral as Corral
from dikin.learners.discard import Discard as Discard
from dikin.learners.fkm import FKM as FKM
from dikin.learners.hazan_levy import HazanLevy as HazanLevy
from dikin.learners.ito import Ito as Ito
from dikin.learners.kernel_line import KernelLine as KernelLine
from dikin.learners.lifted_linear import LiftedLinear as LiftedLinear
from dikin.learners.lipschitz_barrier import LipschitzBarrier as LipschitzBarrier
from dikin.learners.predictive import Predictive as Predictive
from dikin.learners.pseudo_line import PseudoLine as PseudoLine
from dikin.learners.reshaped_fkm import ReshapedFKM as ReshapedFKM
from dikin.learners.saha_tewari import SahaTewari as SahaTewari
from dikin.learners.scrible import Scrible as Scrible
from dikin.learners.tewa import Tewa as Tewa
from dikin.learners.two_point import TwoPoint as TwoPoint

__all__: list[str]
