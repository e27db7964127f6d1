"""The kinds of documents that people write: their names, and the JSON Schema of each.

Most lie in a configuration folder; a wish, a registry of tools and recipes are handed to the guard, and
a plugin has one at the top of its own folder.

The schemas are data beside this file, for editors that complete and check while one types. They say
what a schema can: keys, types, words, forms. What is refused beyond that (a path that is never
granted, a tool at two levels, two patterns that are the same) only the readers know, and they
decide: a schema accepts whatever its reader accepts, and no document is read by one.
"""

from enum import StrEnum
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Final

TOOLS_FOLDER: Final = "tools"


class DocumentKind(StrEnum):
    """One kind; the value is the word that `consentry schema` takes."""

    CONSENT_CONFIG = "consent-config"
    TOOL = "tool"
    SANDBOX_CONFIG = "sandbox-config"
    TOOL_MANIFEST = "tool-manifest"
    POLICY = "policy"
    SETTINGS = "settings"
    WISH = "wish"
    TOOL_REGISTRY = "tool-registry"
    RECIPE = "recipe"
    PLUGIN = "plugin"
    PLUGIN_POLICY = "plugin-policy"

    @property
    def file(self) -> str:
        """What it is called, and where it lies in a configuration folder if it lies in one."""
        match self:
            case DocumentKind.TOOL:
                return f"{TOOLS_FOLDER}/NAME.yaml"
            case DocumentKind.RECIPE:
                return f"NAME.{self}.yaml"
        return f"{self}.yaml"

    @classmethod
    def of(cls, file: str) -> "DocumentKind":
        """What a file is by its name: one of the known documents, or else a tool."""
        path = PurePosixPath(file)
        if path.parent.name == TOOLS_FOLDER:
            return cls.TOOL
        if path.stem.endswith(f".{cls.RECIPE}"):
            return cls.RECIPE
        return cls(path.stem) if path.stem in set(cls) else cls.TOOL

    def schema(self) -> str:
        """Its JSON Schema (draft 2020-12), as text."""
        place = files("consentry.declare").joinpath("schemas", f"{self}.json")
        return place.read_text("utf-8")
