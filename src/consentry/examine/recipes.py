"""Recipes: the tool nodes that a change declares, through the registry that says what each may do.

A node whose tool the registry does not know is not judged by anything that it says of itself.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from consentry.base.values import dataclass
from consentry.declare.recipe import Recipe
from consentry.declare.toolregistry import ToolRegistry
from consentry.examine.atoms import (
    ANYTHING,
    NAMELESS,
    OPERATIONS,
    Atom,
    Found,
    Provenance,
    calling,
    loading,
    reading,
    writing,
)
from consentry.examine.sides import Sited
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import Surface, spellings

_LISTED: Final = (
    Dimension.NET_ACCESS,
    Dimension.PROC_EXEC,
    Dimension.ENV_READ,
    Dimension.CRYPTO_PRIMITIVES,
)


@dataclass(frozen=True, slots=True)
class UnknownNode:
    """A node of a recipe whose tool no registry knows."""

    file: str
    node: str
    tool: str

    @property
    def detail(self) -> str:
        """For the verdict."""
        return (
            f"{self.file}: node `{self.node}` uses the tool `{self.tool}`, which is in no registry"
        )


def powers_of_recipes(
    recipes: Mapping[str, Recipe], registry: ToolRegistry | None
) -> tuple[tuple[Sited, ...], tuple[UnknownNode, ...]]:
    """What the nodes of the recipes may do, and the nodes that nobody knows."""
    found: list[Sited] = []
    unknown: list[UnknownNode] = []
    for file, recipe in sorted(recipes.items()):
        for node in recipe.nodes:
            tool = None if registry is None else registry.find(node.tool)
            if tool is None:
                unknown.append(UnknownNode(file, node.id, node.tool))
                continue
            reason = f"node {node.id} uses the tool {node.tool}"
            line = node.where.line or 1
            atoms = (calling(tool.tool_class), *atoms_of_surface(tool.capabilities))
            found += [Sited(file, Found(atom, line, reason, Provenance.DECLARED)) for atom in atoms]
    return tuple(found), tuple(unknown)


def atoms_of_surface(surface: Surface) -> Iterator[Atom]:
    """The powers of a surface one by one."""
    yield from map(reading, spellings(surface.fs_read_roots))
    yield from map(writing, spellings(surface.fs_write_roots))
    for dimension in _LISTED:
        operation = OPERATIONS[dimension]
        access = surface[dimension]
        level = getattr(access, "level", Level.NONE)
        if level is Level.ANY:
            yield Atom(dimension, operation, ANYTHING)
        elif level is Level.ALLOWLIST:
            yield Atom(dimension, operation, NAMELESS)
            for target in spellings(access):
                yield Atom(dimension, operation, target)
    if surface.dynamic_code_load is not LoadLevel.NONE:
        yield loading(surface.dynamic_code_load)
    yield from map(calling, sorted(surface.tool_classes))
