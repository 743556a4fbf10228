"""How good is this NLP system, and is that one really better?"""

from probative._lazy import names_on_demand
from probative._version import __version__ as __version__

__getattr__, __dir__ = names_on_demand(__name__, __file__)
__all__ = list(__dir__())
