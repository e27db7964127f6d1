"""The digest of everything that extraction knows: the compact tables, and those of other languages.

It stands in every verdict, with the digest of what plugins add, so that two verdicts can be compared: with other tables the same change may
be judged otherwise.
"""

from functools import lru_cache
from typing import Final

from consentry.base.canonical import Digest, digest_json
from consentry.base.ownfiles import own_bytes, own_names
from consentry.examine.knowledge.reader import IDENTITY, TABLE

TABLES: Final = IDENTITY
_FOLDERS: Final = (
    "consentry.examine",
    "consentry.examine.dependencies",
    "consentry.examine.knowledge",
)
_COMPILED: Final = ("stdlib_", "thirdparty_")
"""What the compact tables are made from is not counted twice."""


@lru_cache(maxsize=1)
def tables_digest() -> Digest:
    """The digest over the digests of all tables, by name."""
    import hashlib  # noqa: PLC0415 - loaded by then

    found: dict[str, str] = {}
    for folder in _FOLDERS:
        for name in own_names(folder):
            is_table = name == TABLE or (name.endswith(".toml") and not name.startswith(_COMPILED))
            if is_table:
                found[f"{folder}/{name}"] = hashlib.sha256(own_bytes(folder, name)).hexdigest()
    return digest_json(found)


def known_digest(added: Digest | None) -> Digest:
    """The same with the rules that plugins add; without any, that of our tables alone."""
    return tables_digest() if added is None else digest_json([tables_digest(), added])
