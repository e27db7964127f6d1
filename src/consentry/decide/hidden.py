"""Says what a text hides from its reader, so that a prompt can flag it and level strict refuse it.

What is flagged is what draws nothing, reorders what is read, or would command a terminal. Letters of
other scripts, padding and line feeds are shown by `base/safetext.py` and are no reason to refuse.
"""

from collections.abc import Mapping
from typing import Final

from consentry.base.invisible import FindingKind
from consentry.base.safetext import findings

HIDING: Final = frozenset(
    {
        FindingKind.ANSI,
        FindingKind.CONTROL,
        FindingKind.BIDI,
        FindingKind.ZERO_WIDTH,
        FindingKind.TAG,
        FindingKind.VARIATION_SELECTOR,
        FindingKind.INVISIBLE,
        FindingKind.PRIVATE_USE,
        FindingKind.UNASSIGNED,
        FindingKind.SURROGATE,
        FindingKind.UNDECODABLE_BYTE,
    }
)


def hidden_in(texts: Mapping[str, str]) -> tuple[str, ...]:
    """One line for each kind of hidden character in each of these texts, by what they are called."""
    return tuple(
        f"{name} has {found.characters} x {found.kind}"
        for name, text in texts.items()
        for found in findings(text)
        if found.kind in HIDING
    )
