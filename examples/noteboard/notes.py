"""The notes as they stand in the board's document, and which operations change them: pure, no files.

    /notes/<id>         {"text": …, "order": …}, shown by their order
    /board/selection    {"note": <id>}, and nothing where none is selected
    /board/begun        {"with": …}, put there together with the first notes, so that this happens once

Nothing here changes a note. What changes is a list of operations for a transaction, made from the notes as they
are; the transaction is refused where they are not so any more. What is in the document and is no note is
shown as what it is, so that a person can remove it.
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_NOTES = 200
MOST_LETTERS = 2000
FIRST_NOTES = (
    "Water the plants on Friday",
    "#read The design of everyday things",
    "#read How buildings learn, chapter 4",
    "Milk, bread, a new bulb for the hall",
)
NOTES = "notes"
SELECTION = "/board/selection"
BEGUN = "/board/begun"
NO_NOTE = "(this is no note)"

Operations = list[dict[str, Any]]


class BoardProblem(Exception):
    """What a person asked of the board and it does not do, in a sentence for them."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note; `note_id` is the board's own."""

    note_id: str
    text: str
    order: int


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes in their order, and which one is selected."""

    notes: tuple[Note, ...] = ()
    selected: str | None = None
    has_begun: bool = False
    selection: bool = False

    def note(self, note_id: str) -> Note:
        """The note with that id."""
        for each in self.notes:
            if each.note_id == note_id:
                return each
        raise BoardProblem("that note is not on the board any more")


def read_notes(document: object) -> Notes:
    """The notes of a document, which may be a module's snapshot of it."""
    held, board = _field(document, NOTES), _field(document, "board")
    entities = held.items() if isinstance(held, Mapping) else ()
    notes = sorted((_note(*each) for each in entities), key=lambda each: (each.order, each.note_id))
    selection = _field(board, "selection")
    selected = _field(selection, "note")
    is_there = any(each.note_id == selected for each in notes)
    return Notes(
        tuple(notes),
        selected if isinstance(selected, str) and is_there else None,
        _field(board, "begun") is not None,
        selection is not None,
    )


def beginning(texts: Iterable[str], selected: int | None, whence: str) -> Operations:
    """The first notes of a board; refused for one that has begun already."""
    operations: Operations = [{"op": "add", "path": BEGUN, "value": {"with": whence}}]
    for order, text in enumerate(texts):
        added = _added(text, order)
        operations.append(added)
        if order == selected:
            note_id = str(added["path"]).rpartition("/")[2]
            operations.append({"op": "add", "path": SELECTION, "value": {"note": note_id}})
    return operations


def adding(before: Notes, text: str) -> Operations:
    """Puts a note on the board."""
    kept = text.replace("\r\n", "\n").strip()
    if not kept:
        raise BoardProblem("a note needs some text")
    if len(kept) > MOST_LETTERS:
        raise BoardProblem(f"a note has at most {MOST_LETTERS} letters")
    if len(before.notes) >= MOST_NOTES:
        raise BoardProblem(f"a board has at most {MOST_NOTES} notes")
    last = max((each.order for each in before.notes), default=-1)
    return [_added(kept, last + 1)]


def removing(before: Notes, note_id: str) -> Operations:
    """Takes a note off the board, and with it the mark that it was selected."""
    found = before.note(note_id)
    operations: Operations = [{"op": "remove", "path": place_of(found)}]
    if before.selected == note_id:
        operations.append({"op": "remove", "path": SELECTION})
    return operations


def selecting(before: Notes, note_id: str) -> Operations:
    """Marks one note as the one that is meant, or none when it was marked already."""
    if before.selected == before.note(note_id).note_id:
        return [{"op": "remove", "path": SELECTION}]
    op = "replace" if before.selection else "add"
    return [{"op": op, "path": SELECTION, "value": {"note": note_id}}]


def emptying(before: Notes) -> Operations:
    """Takes every note off the board."""
    return [{"op": "remove", "path": place_of(each)} for each in before.notes]


def tagging(before: Notes, tag: str, word: str) -> Operations:
    """Puts a tag behind every note that has the word and not the tag."""
    operations: Operations = []
    for each in before.notes:
        words = each.text.split()
        if f"#{tag}" not in words and word.lower() in (one.lower() for one in words):
            text = f"{each.text} #{tag}"
            operations += _written(each, text) if len(text) <= MOST_LETTERS else []
    return operations


def tidying(before: Notes) -> Operations:
    """Takes spaces and empty lines away that say nothing, and notes that say what an earlier one says."""
    operations: Operations = []
    seen = set[str]()
    for each in before.notes:
        lines = (" ".join(line.split()) for line in each.text.split("\n"))
        text = "\n".join(line for line in lines if line)
        if text in seen:
            operations.append({"op": "remove", "path": place_of(each)})
        elif text != each.text:
            operations += _written(each, text)
        seen.add(text)
    return operations


def place_of(note: Note) -> str:
    """Where a note stands in the document."""
    return f"/{NOTES}/{note.note_id.replace('~', '~0').replace('/', '~1')}"


def read_file(content: bytes) -> tuple[list[str], int | None]:
    """The texts of a file of notes as earlier boards kept it, and which of them is selected."""
    try:
        document = json.loads(content)
        texts = [_text(each["text"]) for each in document[NOTES]]
        ids = [each["id"] for each in document[NOTES]]
        selected = document["selected"]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise BoardProblem("it does not hold notes") from problem
    if len(texts) > MOST_NOTES:
        raise BoardProblem(f"it holds more than {MOST_NOTES} notes")
    return texts, ids.index(selected) if selected in ids else None


def _text(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MOST_LETTERS:
        raise ValueError("a note has some text")
    return value.encode("utf-8", "replace").decode()


def _note(note_id: str, value: object) -> Note:
    text, order = _field(value, "text"), _field(value, "order")
    known = isinstance(order, int) and not isinstance(order, bool)
    return Note(
        str(note_id),
        text if isinstance(text, str) else NO_NOTE,
        order if known and isinstance(order, int) else 0,
    )


def _added(text: str, order: int) -> dict[str, Any]:
    path = f"/{NOTES}/note-{secrets.token_hex(4)}"
    return {"op": "add", "path": path, "value": {"text": text, "order": order}}


def _written(note: Note, text: str) -> Operations:
    return [{"op": "replace", "path": f"{place_of(note)}/text", "value": text}]


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None
