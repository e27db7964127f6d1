"""The tables of this part are whole: every effect, word and path in them means something."""

import tomllib
from importlib.resources import files
from typing import Any

import pytest

from consentry.examine.dependencies.keyed import rows_for
from consentry.examine.knowledge.effects import parse_effect


def table(name: str) -> dict[str, Any]:
    """A table as it is shipped."""
    source = files("consentry.examine.dependencies").joinpath(name)
    return tomllib.loads(source.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "key"), [("images.toml", "image"), ("actions.toml", "action")])
def test_effects_have_the_form_of_the_tables(name: str, key: str) -> None:
    """Effects are written as everywhere; none takes its target from an argument."""
    for effects in table(name)[key].values():
        assert all(not parse_effect(effect).arguments for effect in effects)


def test_actions_are_named_as_they_are_looked_up() -> None:
    """Owner and name, in lower case: another spelling would never be found."""
    for name in table("actions.toml")["action"]:
        assert name == name.lower()
        assert name.count("/") == 1


def test_rows_of_documents_are_words_that_are_known() -> None:
    """Every row of every kind of document has a path and a word for what is there."""
    kinds = [kind for kind in table("documentkeys.toml") if kind != "version"]
    assert all(path and holds for kind in kinds for path, holds in rows_for(kind))


def test_launchers_say_where_names_are_looked_up() -> None:
    """Three indexes, and one way to say which words are names."""
    for row in table("launchers.toml")["launcher"]:
        assert row["index"] in ("npm", "pypi", "image")
        assert row["takes"] in ("first", "all", "none")
        assert ("valued" in row) != ("flags" in row)
