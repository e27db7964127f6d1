"""A board in one folder: which document its notes are in, and the person's own changes of them.

    FOLDER/board-id     the name of the document, made once; the notes are in Consentry's store under it
    FOLDER/exports/     where files go that a person exports
    FOLDER/notes.json   what an earlier board kept its notes in: read once, and left as it is

Every change of a note is a transaction. What a person does with the board's own forms goes through
`host.change`, and what a module's command does through `call.write`; there is no third way. A change that
finds the board changed meanwhile, by another window or another program, is previewed anew and tried again.
"""

import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from consentry.modules import Attempt, ModuleHost, TransactionState
from examples.noteboard.changes import CONFLICT, SAYS, why_not
from examples.noteboard.notes import (
    FIRST_NOTES,
    BoardProblem,
    Notes,
    Operations,
    adding,
    beginning,
    read_file,
    read_notes,
    removing,
    selecting,
)

MOST_FILE = 4 * 1024**2
_MOST_TRIES = 8


class Board:
    """The notes of one folder, and the reminders of this run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.exports = self.folder / "exports"
        self.exports.mkdir(parents=True, exist_ok=True)
        self.document_id = _kept_id(self.folder / "board-id")
        self.reminders: tuple[str, ...] = ()
        self._lock = Lock()
        self._host: ModuleHost | None = None

    @property
    def host(self) -> ModuleHost:
        """Where its document is; there once the board is open."""
        if self._host is None:
            raise BoardProblem("the board is not open")
        return self._host

    def open(self, host: ModuleHost) -> None:
        """Takes its host, and begins with some notes where it has none yet."""
        self._host = host
        if self.notes().has_begun:
            return
        texts, selected, whence = self._first()
        try:
            self._change("the first notes", lambda _: beginning(texts, selected, whence))
        except BoardProblem:
            # Another program that opened the same folder may have been first.
            if not self.notes().has_begun:
                raise

    def notes(self) -> Notes:
        """The notes as they are now."""
        return read_notes(self.host.state())

    def add(self, text: str) -> None:
        """Puts a note on the board."""
        self._change("add a note", lambda before: adding(before, text))

    def remove(self, note_id: str) -> None:
        """Takes a note off the board."""
        self._change("remove a note", lambda before: removing(before, note_id))

    def select(self, note_id: str) -> None:
        """Marks one note as the one that is meant, or none when it was marked already."""
        self._change("select a note", lambda before: selecting(before, note_id))

    def remind(self, text: str) -> None:
        """Shows a line above the notes until the board is closed."""
        self.reminders = (*self.reminders, text)[-3:]

    def _first(self) -> tuple[list[str], int | None, str]:
        """What a new board begins with, and what that was."""
        file = self.folder / "notes.json"
        if not file.exists():
            return list(FIRST_NOTES), None, "the board's own first notes"
        with file.open("rb") as opened:
            content = opened.read(MOST_FILE + 1)
        try:
            if len(content) > MOST_FILE:
                raise BoardProblem("it is too large")
            texts, selected = read_file(content)
        except BoardProblem as problem:
            raise BoardProblem(f"{file} is not taken over: {problem}") from problem
        return texts, selected, file.name

    def _change(self, label: str, operations_for: Callable[[Notes], Operations]) -> None:
        """One transaction, made from the notes as they are; made anew where they were changed meanwhile."""
        with self._lock:
            attempt = self._tried(label, operations_for(self.notes()))
            for _ in range(_MOST_TRIES):
                if attempt.error is None or attempt.error.code != CONFLICT:
                    break
                attempt = self._tried(label, operations_for(self.notes()))
        if attempt.state is not TransactionState.APPLIED:
            said = SAYS.get(attempt.state, attempt.state.value)
            raise BoardProblem(f"your change: {said}: {why_not(attempt)}")

    def _tried(self, label: str, operations: Operations) -> Attempt:
        attempt = self.host.change(operations, label)
        if attempt.state is TransactionState.FAILED_PRE_APPLY:
            # It is over: nobody is to preview again what was clicked on another state of the board.
            why = "the board was changed meanwhile"
            self.host.transactions.reject(attempt.tx_id, self.host.user, "owner", why)
        return attempt


def _kept_id(file: Path) -> str:
    """The name in that file; of several programs that make it at once, one does."""
    with suppress(FileNotFoundError):
        return _checked(file)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".board-id-")
    try:
        os.write(handle, f"note-board-{secrets.token_hex(8)}\n".encode())
        os.fsync(handle)
        with suppress(FileExistsError):
            os.link(name, file)
    finally:
        os.close(handle)
        Path(name).unlink()
    return _checked(file)


def _checked(file: Path) -> str:
    with file.open("rb") as opened:
        found = opened.read(100).decode("ascii", "replace").strip()
    if not found.removeprefix("note-board-").isalnum():
        raise BoardProblem(f"{file} does not hold the name of a board")
    return found
