"""Names of modules as an import has them: in a table, in the same tree, fetched, or not known."""

from enum import StrEnum

from consentry.examine.javascript.tables import package_of, row_of_module
from consentry.examine.javascript.values import Thing


class Origin(StrEnum):
    """Where a module comes from."""

    TABLE = "table"
    TREE = "tree"
    ADDRESS = "address"
    DATA = "data"
    FILE = "file"
    UNKNOWN = "unknown"


def origin_of(module: str) -> Origin:
    """Where the module of that name comes from."""
    plain = module.strip()
    scheme = plain.partition(":")[0].lower()
    if plain.startswith(("./", "../")) or plain in (".", ".."):
        return Origin.TREE
    if scheme in ("data", "blob", "javascript") and ":" in plain:
        return Origin.DATA
    if "://" in plain and scheme != "file":
        return Origin.ADDRESS
    if plain.startswith("/") or (scheme == "file" and ":" in plain):
        return Origin.FILE
    return Origin.UNKNOWN if row_of_module(plain) is None else Origin.TABLE


def module_thing(module: str) -> Thing | None:
    """The module as a thing; None where no table knows it."""
    if origin_of(module) is not Origin.TABLE:
        return None
    row = row_of_module(module.strip())
    return None if row is None else Thing(row)


def unknown_key(module: str) -> str:
    """The key of a module that no table knows: two imports of one package are the same thing."""
    plain = module.strip()
    scheme, colon, _ = plain.partition(":")
    if colon and scheme in ("jsr", "bun", "node", "cloudflare", "virtual"):
        return f"import {plain}"
    return f"import npm:{package_of(plain)}"
