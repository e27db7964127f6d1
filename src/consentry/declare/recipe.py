"""Recipe metadata as values: the nodes of a recipe, and the tool that each calls (GUARD §extract-1)."""

from typing import Final

from consentry.base.errors import Where
from consentry.base.values import dataclass, field

RECIPE_VERSION: Final = "1"
_ENDINGS: Final = (".recipe.yaml", ".recipe.json")


@dataclass(frozen=True, slots=True)
class RecipeNode:
    """One step; `tool` is an id of the registry, or of nothing."""

    id: str
    tool: str
    where: Where = field(default_factory=Where, compare=False)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The whole document."""

    nodes: tuple[RecipeNode, ...] = ()


def is_recipe(path: str) -> bool:
    """Whether a file holds recipe metadata, by its name (CONTRACTS §12-recipe)."""
    return path.endswith(_ENDINGS)
