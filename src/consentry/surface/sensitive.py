"""Names that often hold secrets: what reads one is called out to whoever decides.

The table is data beside this file. It is a list of usual names, no detector: a password in `notes.txt`
is not found by it, and `token.py` is no secret because of its name.
"""

import tomllib
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files

from consentry.base.values import dataclass

_TABLE = "sensitive_names.toml"


@dataclass(frozen=True, slots=True)
class SensitiveName:
    """One name of the table, its parts in lower case, and why it is there."""

    parts: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class SensitiveNames:
    """The table, ready to be asked."""

    rows: tuple[SensitiveName, ...]

    def why(self, path: str) -> str | None:
        """Why a path, or something above it, is on the list; None if it is not."""
        names = tuple(part for part in path.lower().split("/") if part)
        for row in self.rows:
            for start in range(len(names) - len(row.parts) + 1):
                run = names[start : start + len(row.parts)]
                if all(map(fnmatchcase, run, row.parts)):
                    return row.why
        return None


@lru_cache(maxsize=1)
def sensitive_names() -> SensitiveNames:
    """As shipped."""
    table = tomllib.loads(files(__package__).joinpath(_TABLE).read_text(encoding="utf-8"))
    return SensitiveNames(
        tuple(
            SensitiveName(tuple(name.split("/")), section["why"])
            for section in table["sensitive"]
            for name in section["names"]
        )
    )
