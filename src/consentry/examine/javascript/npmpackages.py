"""npm packages by name: what depending on one brings in."""

from consentry.base.values import dataclass
from consentry.examine.javascript.tables import npm_rows
from consentry.examine.knowledge.effects import Effect


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """A package that the tables know; without effects it has no power."""

    name: str
    effects: tuple[Effect, ...]


def npm_package(name: str) -> NpmPackage | None:
    """The package of that name; None where no table knows it, which must not pass for harmless."""
    row = npm_rows().get(name)
    if row is None and name.startswith("@types/"):
        return NpmPackage(name, ())
    return None if row is None else NpmPackage(name, row.imported)
