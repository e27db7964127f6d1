"""Recipes: what the nodes of a change may do is what the registry says of their tools."""

from consentry.base.errors import Where
from consentry.declare.recipe import Recipe, RecipeNode
from consentry.declare.toolregistry import RegisteredTool, ToolRegistry
from consentry.examine.atoms import (
    ANYTHING,
    NAMELESS,
    Provenance,
    calling,
    connecting,
    encrypting,
    loading,
    reading,
    seeing,
    starting,
    writing,
)
from consentry.examine.extracted import surface_of
from consentry.examine.recipes import UnknownNode, atoms_of_surface, powers_of_recipes
from consentry.surface.dimensions import Level, LoadLevel
from consentry.surface.lattice import NOTHING, Surface

EVERYTHING = Surface.of(
    read=["data/"],
    write=["out/x"],
    net=["example.com:443"],
    run=Level.ANY,
    env=["HOME"],
    load=LoadLevel.LIMITED,
    crypto=["sha256"],
    tools=["web"],
)
REGISTRY = ToolRegistry(
    (RegisteredTool("draw", "browser", EVERYTHING), RegisteredTool("think", "pure", NOTHING))
)


def recipe(*tools: str) -> Recipe:
    """A recipe with a node for each tool, a line apart."""
    nodes = [RecipeNode(f"n{at}", tool, Where(line=at)) for at, tool in enumerate(tools, start=1)]
    return Recipe(tuple(nodes))


def test_a_node_has_the_class_and_the_powers_of_its_tool() -> None:
    """GUARD §extract-1, §in-registry: as declared, at the line of the node."""
    found, unknown = powers_of_recipes({"a.recipe.json": recipe("think", "draw")}, REGISTRY)
    assert unknown == ()
    assert {each.found.atom for each in found} == {
        calling("pure"),
        calling("browser"),
        *atoms_of_surface(EVERYTHING),
    }
    assert {each.found.provenance for each in found} == {Provenance.DECLARED}
    assert [each.found.line for each in found if each.found.atom == calling("browser")] == [2]


def test_a_tool_that_no_registry_knows_gives_nothing_and_is_named() -> None:
    """GUARD §in-registry: without a registry that is every tool."""
    recipes = {"b.recipe.json": recipe("draw", "nobody")}
    found, unknown = powers_of_recipes(recipes, REGISTRY)
    assert unknown == (UnknownNode("b.recipe.json", "n2", "nobody"),)
    assert found
    found, unknown = powers_of_recipes(recipes, None)
    assert (found, [each.tool for each in unknown]) == ((), ["draw", "nobody"])


def test_recipes_are_taken_in_the_order_of_their_names() -> None:
    """GUARD §deterministic."""
    one, other = {"a.recipe.json": recipe("x")}, {"b.recipe.json": recipe("y")}
    assert powers_of_recipes({**one, **other}, None) == powers_of_recipes({**other, **one}, None)


def test_a_surface_one_power_at_a_time() -> None:
    """All that it has and nothing else; a list begins with the step to it."""
    assert set(atoms_of_surface(EVERYTHING)) == {
        reading("data/"),
        writing("out/x"),
        connecting(NAMELESS),
        connecting("example.com:443"),
        starting(ANYTHING),
        seeing(NAMELESS),
        seeing("HOME"),
        encrypting(NAMELESS),
        encrypting("sha256"),
        loading(LoadLevel.LIMITED),
        calling("web"),
    }
    assert tuple(atoms_of_surface(NOTHING)) == ()


def test_there_and_back() -> None:
    """The powers of a surface come to that surface."""
    assert surface_of(atoms_of_surface(EVERYTHING)) == EVERYTHING
