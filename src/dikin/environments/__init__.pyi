# Written by `make stub`.

from dikin.environments.batches import LogisticBatches as LogisticBatches
from dikin.environments.batches import SquaredBatches as SquaredBatches
from dikin.environments.bowl import Bowl as Bowl
from dikin.environments.bowl import Circling as Circling
from dikin.environments.bowl import Jumping as Jumping
from dikin.environments.fromfunction import FromFunction as FromFunction
from dikin.environments.hostile import Hostile as Hostile
from dikin.environments.kink import Distance as Distance
from dikin.environments.kink import Kink as Kink
from dikin.environments.linear import Linear as Linear
from dikin.environments.pseudo_kink import PseudoKink as PseudoKink
from dikin.environments.quadratic import Quadratic as Quadratic
from dikin.environments.ridge import Ridge as Ridge
from dikin.environments.wrappers import Shifted as Shifted
from dikin.environments.wrappers import Understated as Understated

__all__: list[str]
