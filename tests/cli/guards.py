"""The two doors of the guard: the command, in a process of its own, and `consentry.check_patch`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import consentry as library
from tests.cli.conftest import CommandLine

STATUSES = {"PASS": 0, "BLOCKED": 1, "UNKNOWN": 2}
Document = Mapping[str, Any]


class Door(Protocol):
    """Gives the document of the verdict on a bundle."""

    def __call__(
        self,
        bundle: Document,
        wish: Document | None = None,
        *,
        registry: Document | None = None,
        recipes: Sequence[Document] = (),
        offline: bool = False,
        strict: bool = True,
        replay: Document | None = None,
    ) -> dict[str, Any]:
        """The document."""


class CommandDoor:
    """Writes what it is given to files and runs the command; its exit status is the answer, too."""

    def __init__(self, consentry: CommandLine) -> None:
        self._consentry = consentry
        self._folder = consentry.cwd.parent / "given"
        self._folder.mkdir()

    def __call__(
        self,
        bundle: Document,
        wish: Document | None = None,
        *,
        registry: Document | None = None,
        recipes: Sequence[Document] = (),
        offline: bool = False,
        strict: bool = True,
        replay: Document | None = None,
    ) -> dict[str, Any]:
        """The document that the command prints."""
        words = ["--bundle", self._file("bundle", bundle)]
        for name, document in (("wish", wish), ("registry", registry), ("replay", replay)):
            if document is not None:
                words += [f"--{name}", self._file(name, document)]
        for number, recipe in enumerate(recipes):
            words += ["--recipe", self._file(f"r{number}.recipe", recipe)]
        words += ["--offline"] if offline else []
        words += [] if strict else ["--no-strict"]
        ended = self._consentry("guard", *words, "--json")
        assert ended.err == ""
        found: dict[str, Any] = json.loads(ended.out)
        assert ended.status == STATUSES[found["status"]]
        return found

    def _file(self, name: str, document: Document) -> str:
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps(document))
        return str(file)


def library_door(bundle: Document, wish: Document | None = None, **more: Any) -> dict[str, Any]:
    """The document of what the library answers; a verdict may be asked both ways."""
    verdict = library.check_patch(bundle, wish, **more)
    assert verdict.status == verdict["status"]
    return verdict.to_json()


def tags(verdict: Document) -> list[str]:
    """The tags of the reasons, in their order, each once."""
    return list(dict.fromkeys(each["tag"] for each in verdict["reasons"]))


def write_wish(folder: Path, name: str, allowed: Mapping[str, Any] | None = None) -> str:
    """A wish in JSON beside the code."""
    from tests.service.patches import wish_of

    (folder / name).write_text(json.dumps(wish_of(**(allowed or {}))))
    return name
