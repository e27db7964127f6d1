"""Which names a file or folder of a plugin may have.

A name must mean the same file on every machine: it is UTF-8, and no other name in its folder differs
from it only by case or by Unicode normalisation, because some file systems and Python's import take such
names for one. Bytecode has no place in a plugin: it would be loaded instead of the source that was read.
"""

import os
import unicodedata
from collections.abc import Sequence
from typing import Final

from consentry.examine.pluginproblems import Rejection, VerificationError

_BYTECODE: Final = (".pyc", ".pyo")
_BYTECODE_FOLDER: Final = "__pycache__"


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
                f"`{above}{other}` and `{above}{name}` differ only by case or normalisation",
                help_line="rename one of the two",
            )
    return texts


def folded_name(name: str) -> str:
    """What a name is to a file system, or an import, that is generous about letters."""
    if name.isascii():
        return name.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", name).casefold())
    return unicodedata.normalize("NFKC", folded.casefold())


def _as_utf8(plugin: str, above: str, name: str) -> str:
    raw = os.fsencode(name)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        message = f"the name `{above}{raw!r}` is not UTF-8"
        raise VerificationError(Rejection.NAME_NOT_UTF8, plugin, message) from None
