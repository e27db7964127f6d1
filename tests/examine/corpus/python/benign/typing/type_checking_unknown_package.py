# must-not: ALL
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from somepackagenobodyknows import Thing
