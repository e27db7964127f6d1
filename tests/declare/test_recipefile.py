"""Recipe metadata: nodes and the tools they call, and every way to be wrong (CONTRACTS §12-recipe)."""

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.recipe import Recipe, RecipeNode, is_recipe
from consentry.declare.recipefile import read_recipe


def read(nodes: str) -> Recipe:
    """A recipe with these nodes, in line 2."""
    return read_recipe(f'recipe_version: "1"\nnodes: {nodes}'.encode(), "r.recipe.yaml")


def problems(nodes: str) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read(nodes)
    return [str(each).removeprefix("r.recipe.yaml:") for each in caught.value.problems]


def test_nodes() -> None:
    """In their order, each with its place; two may call the same tool."""
    found = read("[{id: get, tool: fetch-page}, {id: again, tool: fetch-page}]")
    assert found.nodes == (RecipeNode("get", "fetch-page"), RecipeNode("again", "fetch-page"))
    assert str(found.nodes[0].where) == "r.recipe.yaml:2:9 `nodes[0]`"


def test_json_is_read_alike() -> None:
    """By the name of the file."""
    text = b'{"recipe_version": "1", "nodes": [{"id": "a", "tool": "b"}]}'
    assert read_recipe(text, "r.recipe.json") == read("[{id: a, tool: b}]")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ("[{id: a}]", ["2:9: nodes[0].tool: this key is missing; add `tool:`"]),
        ("[{tool: a}]", ["2:9: nodes[0].id: this key is missing; add `id:`"]),
        ("[{id: a, tool: b, args: []}]", ["2:26: nodes[0].args: `args` is not a key that is known here; remove it"]),
        ("[{id: a, tool: b}, {id: a, tool: c}]", ["2:27: nodes[1]: this is already in line 2; keep one of the two"]),
        ("[{id: a, tool: ''}]", ["2:23: nodes[0].tool: the text is empty; write something, or leave the key out"]),
        ("{}", ["2:8: nodes: this is a mapping, and a list is meant; write a list; `[]` is an empty one"]),
    ],
)  # fmt: skip
def test_wrong(nodes: str, said: list[str]) -> None:
    """What is wrong, where, and what to write."""
    assert problems(nodes) == said


def test_an_unknown_version_is_refused() -> None:
    """Only `"1"` is known."""
    with pytest.raises(BadDocument, match="version 7 of this document is not known"):
        read_recipe(b'recipe_version: "7"\nnodes: []', "r.recipe.yaml")


def test_a_recipe_is_known_by_its_name() -> None:
    """`*.recipe.yaml` and `*.recipe.json`, and nothing else."""
    assert is_recipe("flows/daily.recipe.yaml")
    assert is_recipe("daily.recipe.json")
    assert not any(map(is_recipe, ("recipe.yaml", "daily.yaml", "daily.recipe.toml", "x.recipe")))
