"""Define the frozen objects that all functions return.

They hold numbers, print as one line (`str`) and convert to a dictionary for JSON (`to_dict`). An
undefined number is NaN here and null in JSON.
"""

from probative._lazy import names_on_demand

__getattr__, __dir__ = names_on_demand(__name__, __file__)
__all__ = list(__dir__())
