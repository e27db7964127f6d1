"""The note board with a document store that stops, or does not know, in the middle of a commit (tests only).

    FOLDER/stop      names where the next commit stops for good: `before` it begins, `within` it after its first
                     write, or `after` it took effect; FOLDER/stopped says that it has come there
    FOLDER/unsure    while it is there, commits take effect and are not confirmed, and no one can look at the log

With `--limit N` an unknown commit is looked into for N milliseconds.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from threading import Event

from consentry.base.units import Duration
from consentry.decide.documentstore import BeforeWrite
from consentry.modules import (
    Commit,
    CommitRecord,
    DocumentStore,
    EntityName,
    ModuleHost,
    Snapshot,
    TxTerms,
)
from examples.noteboard.__main__ import main


class InterruptedDocument:
    """The built-in document behind a wall that can fall on it."""

    def __init__(self, inner: DocumentStore, folder: Path) -> None:
        self._inner = inner
        self._folder = folder
        self.document_id = inner.document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """As it is."""
        return self._inner.read(names)

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """As it does, if it gets there."""
        calls = 0

        def checked() -> None:
            nonlocal calls
            calls += 1
            check()
            if calls > 1:
                self._stop("within")

        self._stop("before")
        record = self._inner.commit(commit, checked)
        self._stop("after")
        self._require_sure()
        return record

    def settle(self, commit: Commit) -> CommitRecord | None:
        """As it knows, if anybody can ask."""
        self._require_sure()
        return self._inner.settle(commit)

    def _stop(self, where: str) -> None:
        wanted = self._folder / "stop"
        if wanted.exists() and wanted.read_text() == where:
            (self._folder / "stopped").touch()
            Event().wait()

    def _require_sure(self) -> None:
        if (self._folder / "unsure").exists():
            raise OSError("the disk does not answer")


def interrupted(words: list[str]) -> int:
    """Runs it so."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=15 * 60_000)
    given, rest = parser.parse_known_args(words)

    class InterruptedHost(ModuleHost):
        """A host whose document is behind that wall."""

        def __init__(self, *words: object, **options: object) -> None:
            terms = TxTerms(recovery=Duration(given.limit))
            super().__init__(*words, terms=terms, **options)  # type: ignore[arg-type]

        def _kept(self, document: DocumentStore | str) -> DocumentStore:
            return InterruptedDocument(super()._kept(document), given.folder)

    return main(["--folder", str(given.folder), *rest], InterruptedHost)


if __name__ == "__main__":
    sys.exit(interrupted(sys.argv[1:]))
