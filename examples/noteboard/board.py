"""The notes themselves: a JSON file in one folder, changed only by the board's own commands.

    FOLDER/notes.json   the notes, oldest first, and which one is selected
    FOLDER/exports/     where files go that a person exports

A change writes a new file beside the old one and takes its place, so that a crash leaves one of the two
whole. Modules get a copy of `snapshot()` and no way to any method of this class.

Not promised: that two boards on one folder see each other's changes at once. The later one wins.
"""

import json
import os
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

MOST_NOTES = 200
MOST_LETTERS = 2000
FIRST_NOTES = (
    "Water the plants on Friday",
    "#read The design of everyday things",
    "#read How buildings learn, chapter 4",
    "Milk, bread, a new bulb for the hall",
)


class BoardProblem(Exception):
    """What a person asked of the board and it does not do, in a sentence for them."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note; `note_id` is the board's own."""

    note_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """All that the file holds."""

    notes: tuple[Note, ...] = ()
    selected: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As it stands in the file, and as a module that may read it sees it."""
        return {
            "notes": [{"id": each.note_id, "text": each.text} for each in self.notes],
            "selected": self.selected,
        }


class Board:
    """The notes of one folder, and the reminders of this run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.exports = self.folder / "exports"
        self.exports.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "notes.json"
        self.reminders: tuple[str, ...] = ()
        self._lock = Lock()
        if not self.file.exists():
            self._write(Notes(tuple(Note(_new_id(), text) for text in FIRST_NOTES)))

    def notes(self) -> Notes:
        """What the file holds now."""
        try:
            document = json.loads(self.file.read_bytes())
            notes = tuple(Note(str(each["id"]), str(each["text"])) for each in document["notes"])
            return Notes(notes, document["selected"])
        except (ValueError, KeyError, TypeError) as problem:
            raise BoardProblem(f"{self.file} does not hold notes any more") from problem

    def snapshot(self) -> dict[str, Any]:
        """The state that a module may be granted to read."""
        return self.notes().to_json()

    def add(self, text: str) -> Note:
        """Puts a note on the board."""
        kept = text.replace("\r\n", "\n").strip()
        if not kept:
            raise BoardProblem("a note needs some text")
        if len(kept) > MOST_LETTERS:
            raise BoardProblem(f"a note has at most {MOST_LETTERS} letters")
        note = Note(_new_id(), kept)

        def added(before: Notes) -> Notes:
            if len(before.notes) >= MOST_NOTES:
                raise BoardProblem(f"a board has at most {MOST_NOTES} notes")
            return replace(before, notes=(*before.notes, note))

        self._change(added)
        return note

    def remove(self, note_id: str) -> None:
        """Takes a note off the board."""

        def removed(before: Notes) -> Notes:
            left = tuple(each for each in before.notes if each.note_id != note_id)
            if len(left) == len(before.notes):
                raise BoardProblem("that note is not on the board any more")
            selected = None if before.selected == note_id else before.selected
            return Notes(left, selected)

        self._change(removed)

    def select(self, note_id: str) -> None:
        """Marks one note as the one that is meant, or none when it was marked already."""

        def marked(before: Notes) -> Notes:
            if all(each.note_id != note_id for each in before.notes):
                raise BoardProblem("that note is not on the board any more")
            return replace(before, selected=None if before.selected == note_id else note_id)

        self._change(marked)

    def clear(self) -> int:
        """Takes every note off the board; how many there were."""
        count = len(self.notes().notes)
        self._change(lambda _: Notes())
        return count

    def remind(self, text: str) -> None:
        """Shows a line above the notes until the board is closed."""
        self.reminders = (*self.reminders, text)[-3:]

    def _change(self, change: Callable[[Notes], Notes]) -> None:
        with self._lock:
            self._write(change(self.notes()))

    def _write(self, notes: Notes) -> None:
        content = json.dumps(notes.to_json(), indent=1, ensure_ascii=False)
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".notes-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{content}\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _new_id() -> str:
    return f"note-{secrets.token_hex(4)}"
