"""Which names are those of tokens: every `…Capability`, `CapabilityBundle`, and our own `Permit`.

A name counts by its spelling, wherever it was imported from: a name that keeps its spelling can be
found in every file, and one that does not is reported where it is changed. `Capability` alone is the
record of saved code, and no token.
"""

import re
from typing import Final

from consentry.examine.fence.findings import Family

HOME_MODULES: Final = frozenset({"consentry.decide.tokens", "consentry.decide.permit"})
LEADING_THERE: Final = frozenset({"consentry", "consentry.decide", *HOME_MODULES})
"""The homes, and the packages that they are members of."""
STAND_FOR_CLASSES: Final = frozenset({"Single", "AnyToken", "BaseToken", "Part"})
HOLD_CLASSES: Final = frozenset({"consentry.decide.tokens", "consentry.decide.tokenparts"})
"""Names for several of the classes at once, or for what they have in common, and where they are."""
MAKER: Final = "make_permit"
"""The function that makes permits; `mint` is everybody's, and leaves its event."""
PERMIT: Final = "Permit"

_ENDING: Final = "Capability"
_BUNDLE: Final = "CapabilityBundle"
_WORD: Final = re.compile(r"\w+")


def family_of(name: str) -> Family | None:
    """Whose class has that name; None where it is nobody's."""
    if name.endswith(_ENDING):
        plain = name.lstrip("_")
        return Family.TOKEN if plain != _ENDING and plain[0].isupper() else None
    if name == PERMIT:
        return Family.PERMIT
    return Family.TOKEN if name == _BUNDLE else None


def named_in(text: str) -> list[str]:
    """The names of tokens among the words of a text, such as an annotation in quotes."""
    if _ENDING not in text and PERMIT not in text:
        return []
    return [word for word in _WORD.findall(text) if family_of(word) is not None]


def last_part(path: str) -> str:
    """`Name` of `a.b.Name` and of `a.b:Name`."""
    return path.replace(":", ".").rpartition(".")[2]
