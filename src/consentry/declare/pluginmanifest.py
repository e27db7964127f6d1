"""Reads `plugin.yaml`: what a plugin is called, and which of its files are tools, policies and rules.

    pluginVersion: "1"
    name: example-notes
    version: "1.0.0"
    tools: [tools/count-notes.yaml]
    rules:
      tables: [rules/notes.toml]
      python: [rules/notes.py]

Every file is named by its path below the plugin's folder; nothing counts that is not named. Whether a
file is there, and is what it is named for, is for whoever loads it to find. That the plugin's folder
has the same name is, too.
"""

import re
from collections.abc import Callable
from typing import Final

from consentry.base.errors import Where
from consentry.base.values import dataclass, field
from consentry.declare.nodes import clipped
from consentry.declare.pluginlock import PLUGIN_NAME, VERSION_FORM
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.repeats import without_repeats
from consentry.declare.values import Value

MANIFEST_NAME: Final = "plugin.yaml"
PLUGIN_VERSION: Final = "1"
KEYS: Final = ("pluginVersion", "name", "version", "description", "tools", "policies", "rules")
KEYS_OF_RULES: Final = ("tables", "python")
MOST_FILES: Final = 200
"""Of each kind."""

_MOST_LETTERS: Final = 255
_MOST_VERSION: Final = 128
_PATH: Final = re.compile(r"(?!(?:.*/)?\.\.?(?:/|$))(?:[^/\x00-\x1f\x7f\\]+/)*[^/\x00-\x1f\x7f\\]+")
_DOCUMENTS: Final = (".yaml", ".yml", ".json")
_TABLES: Final = (".toml",)
_MODULES: Final = (".py",)
_MODULE_PATH: Final = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*/)*[A-Za-z_][A-Za-z0-9_]*\.py")


@dataclass(frozen=True, slots=True)
class PluginManifest:
    """The whole document; files are paths below the plugin's folder."""

    name: str
    version: str
    description: str = ""
    tools: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    where: Where = field(default_factory=Where, compare=False)

    @property
    def files(self) -> tuple[str, ...]:
        """Everything that is named, in the order of the keys."""
        return (*self.tools, *self.policies, *self.tables, *self.python)


def read_plugin_manifest(content: bytes, name: str, *, parse: Parse = parsed) -> PluginManifest:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def _document(root: Value) -> PluginManifest:
    fields = root.fields(KEYS)
    if fields is None:
        return PluginManifest("", "")
    fields.need("pluginVersion", _format, "")
    tables, python = fields.may("rules", _rules, ((), ()))
    return PluginManifest(
        fields.need("name", _name, ""),
        fields.need("version", _version, ""),
        fields.may("description", Value.words, ""),
        fields.may("tools", _files(_DOCUMENTS, "a document"), ()),
        fields.may("policies", _files(_DOCUMENTS, "a document"), ()),
        tables,
        python,
        root.where,
    )


def _format(value: Value) -> str | None:
    found = value.text()
    if found is not None and found != PLUGIN_VERSION:
        value.refuse(
            f"version {clipped(found)} of this document is not known, only {PLUGIN_VERSION}",
            f'write "{PLUGIN_VERSION}" if it follows that, or install a release that knows it',
        )
    return found


def _name(value: Value) -> str | None:
    return value.matching(
        PLUGIN_NAME, "a name for a plugin", "use a to z, digits and `-`, at most 64"
    )


def _version(value: Value) -> str | None:
    found = value.matching(VERSION_FORM, "a version", "write three numbers such as 1.0.0")
    if found is not None and len(found) > _MOST_VERSION:
        value.refuse(f"the version has more than {_MOST_VERSION} characters", "shorten it")
        return None
    return found


def _rules(value: Value) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    fields = value.fields(KEYS_OF_RULES)
    if fields is None:
        return None
    return (
        fields.may("tables", _files(_TABLES, "a table"), ()),
        fields.may("python", _files(_MODULES, "a module"), ()),
    )


def _files(endings: tuple[str, ...], what: str) -> Callable[[Value], tuple[str, ...] | None]:
    def read(value: Value) -> tuple[str, ...] | None:
        found = without_repeats(value, lambda each: _file(each, endings, what), lambda path: path)
        if found is not None and len(found) > MOST_FILES:
            value.refuse(f"there are more than {MOST_FILES} files", "make two plugins of it")
        return found

    return read


def _file(value: Value, endings: tuple[str, ...], what: str) -> str | None:
    found = value.text()
    if found is None:
        return None
    is_path = len(found) <= _MOST_LETTERS and _PATH.fullmatch(found) is not None
    if not is_path or not found.endswith(endings):
        value.refuse(
            f"`{clipped(found)}` is not {what} below the plugin's folder",
            f"write its path from there, without `..`; it ends in {' or '.join(endings)}",
        )
        return None
    if endings is _MODULES and _MODULE_PATH.fullmatch(found) is None:
        value.refuse(
            f"`{clipped(found)}` cannot be imported under that name",
            "use letters, digits and `_` in the names of modules and their folders",
        )
        return None
    return found
