"""What pyproject.toml asks for: each requirement with the place that asks, and the locks it belongs in."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.requirements import Requirement


@dataclass(frozen=True, slots=True)
class Declared:
    """One requirement; `place` is `base`, the name of an extra, or `dev`."""

    place: str
    parsed: Requirement

    @property
    def locks(self) -> tuple[str, ...]:
        """The locks that must pin it."""
        match self.place:
            case "base":
                return ("run", "dev", "all")
            case "dev":
                return ("dev", "all")
        return ("all",)


def declared(pyproject: str) -> Iterator[Declared]:
    """Every requirement of the base install, the extras and the dev group, in that order."""
    document = tomllib.loads(pyproject)
    project = document["project"]
    places = {
        "base": project.get("dependencies", []),
        **project.get("optional-dependencies", {}),
        "dev": document.get("dependency-groups", {}).get("dev", []),
    }
    for place, texts in places.items():
        for text in texts:
            yield Declared(place, Requirement(text))
