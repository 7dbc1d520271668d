"""Algorithms: a learner is asked for a point and told its loss."""

from dikin.learners.adaptive import AdaptiveLipschitz, AdaptiveSmooth
from dikin.learners.agarwal_dekel_xiao import AgarwalDekelXiao
from dikin.learners.aogd import AOGD
from dikin.learners.bandit_newton import BanditNewton
from dikin.learners.barrier_family import (
    Discard,
    HazanLevy,
    LipschitzBarrier,
    SahaTewari,
    Scrible,
)
from dikin.learners.corral import Corral
from dikin.learners.fkm import FKM
from dikin.learners.ito import Ito
from dikin.learners.kernel_line import KernelLine
from dikin.learners.lifted_linear import LiftedLinear
from dikin.learners.one_measurement_spsa import OneMeasurementSPSA
from dikin.learners.predictive import Predictive
from dikin.learners.pseudo_line import PseudoLine
from dikin.learners.tewa import Tewa
from dikin.learners.two_point import TwoPoint

__all__ = [
    "AOGD",
    "FKM",
    "AdaptiveLipschitz",
    "AdaptiveSmooth",
    "AgarwalDekelXiao",
    "BanditNewton",
    "Corral",
    "Discard",
    "HazanLevy",
    "Ito",
    "KernelLine",
    "LiftedLinear",
    "LipschitzBarrier",
    "OneMeasurementSPSA",
    "Predictive",
    "PseudoLine",
    "SahaTewari",
    "Scrible",
    "Tewa",
    "TwoPoint",
]
