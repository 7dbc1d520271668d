"""Algorithms: a learner is asked for a point and told its loss."""

from dikin.learners.adaptive import AdaptiveLipschitz, AdaptiveSmooth
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
from dikin.learners.descent import (
    FKM,
    AgarwalDekelXiao,
    OneMeasurementSPSA,
    PseudoLine,
    TwoPoint,
)
from dikin.learners.kernel_line import KernelLine
from dikin.learners.predictive import Predictive
from dikin.learners.tewa import Tewa

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
    "KernelLine",
    "LipschitzBarrier",
    "OneMeasurementSPSA",
    "Predictive",
    "PseudoLine",
    "SahaTewari",
    "Scrible",
    "Tewa",
    "TwoPoint",
]
