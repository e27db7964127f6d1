"""Which names a file or folder of a plugin may have.

A name must mean the same file on every machine: it is UTF-8, and no other name in its folder differs
from it only by case, by Unicode normalisation, by characters that nobody sees, or by dots and blanks at its
end, because some file systems and Python's import take such names for one. Bytecode has no place in a
plugin: it would be loaded instead of the source that was read.
"""

import os
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from consentry.examine.pluginproblems import Rejection, VerificationError

_BYTECODE: Final = (".pyc", ".pyo")
_BYTECODE_FOLDER: Final = "__pycache__"
# `Default_Ignorable_Code_Point` of Unicode, which a folder of ext4 or F2FS that folds case leaves out.
_UNSEEN: Final = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff]+"
)
_AT_THE_END: Final = ". "
"""What FAT and Windows leave out there."""


def checked_names(plugin: str, above: str, names: Sequence[str]) -> list[str]:
    """The names in one folder as what their bytes say in UTF-8, or raises `VerificationError`.

    Args:
        plugin: Its name, for the error.
        above: The folder's own path; it ends with `/` or is empty.
        names: The names as the interpreter has them, which depends on where it was started.
    """
    texts = [name if name.isascii() else _as_utf8(plugin, above, name) for name in names]
    first: dict[str, str] = {}
    for name in texts:
        folded = folded_name(name)
        if folded.endswith(_BYTECODE) or folded == _BYTECODE_FOLDER:
            raise VerificationError(
                Rejection.BYTECODE,
                plugin,
                f"`{above}{name}` is bytecode, which would be loaded unread",
                help_line="remove it; plugins are loaded with bytecode written elsewhere",
            )
        other = first.setdefault(folded, name)
        if other is not name:
            raise VerificationError(
                Rejection.NAME_CLASH,
                plugin,
                f"`{above}{other}` and `{above}{name}` differ only by case, normalisation or what is unseen",
                help_line="rename one of the two",
            )
    return texts


def folded_name(name: str) -> str:
    """What a name is to a file system, or an import, that is generous about letters."""
    if name.isascii():
        return name.lower().rstrip(_AT_THE_END)
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKD", name))
    folded = unicodedata.normalize("NFKC", seen.casefold())
    return unicodedata.normalize("NFKC", folded.casefold()).rstrip(_AT_THE_END)


def _as_utf8(plugin: str, above: str, name: str) -> str:
    raw = os.fsencode(name)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        message = f"the name `{above}{raw!r}` is not UTF-8"
        raise VerificationError(Rejection.NAME_NOT_UTF8, plugin, message) from None
