"""The board as a host of modules: which commands it has, what each takes, and the code behind them.

| command        | changes | a module needs                | besides                     |
|----------------|---------|-------------------------------|-----------------------------|
| `notes.count`  | local   | state.read                    |                             |
| `notes.words`  | local   | state.read                    |                             |
| `notes.export` | local   | export.user.file, state.read  | a file that the user chose  |
| `notes.pin`    | local   | module.storage.local          |                             |
| `notes.remind` | local   | state.read                    | soft approval               |
| `notes.purge`  | doc     | state.write.tx                | hard approval               |

A handler gets a `ModuleCall` and nothing else of the module. What the module sends along (`payload`) is
data that the handler reads as it reads any stranger's text: each field is looked at, and what is not as
expected counts as not there. `notes.purge` changes notes, and this host has no transactions: every module
that calls it is refused, whatever was granted. People remove notes by the board's own forms.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial

from consentry.modules import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostCommand,
    ModuleCall,
    ModuleHost,
    MutationScope,
)
from examples.noteboard.board import Board

HOST_ID = "note-board"
VERSION = "1.0.0"

Command = Callable[[Board, ModuleCall], str]
_MOST_TAG = 20


def open_host(board: Board, host_type: type[ModuleHost] = ModuleHost) -> ModuleHost:
    """The host with all commands; its session ends when it is closed."""
    return host_type(
        HOST_ID,
        VERSION,
        commands(board),
        state=board.snapshot,
        writable_paths=["/notes"],
    )


def commands(board: Board) -> list[HostCommand]:
    """Each declaration with its handler, bound to this board."""
    return [HostCommand(declared, partial(handler, board)) for declared, handler in _COMMANDS]


def count(_: Board, call: ModuleCall) -> str:
    """How many notes there are, or how many have a tag."""
    texts = _texts(call)
    tag = _tag_of(call)
    if tag is None:
        return f"{len(texts)} notes"
    tagged = sum(f"#{tag}" in text.split() for text in texts)
    return f"{tagged} of {len(texts)} notes have #{tag}"


def words(_: Board, call: ModuleCall) -> str:
    """How many words the notes have together."""
    texts = _texts(call)
    return f"{sum(len(text.split()) for text in texts)} words in {len(texts)} notes"


def export(_: Board, call: ModuleCall) -> str:
    """Writes the notes, all or those with a tag, to the file that the user chose."""
    tag = _tag_of(call)
    kept = [text for text in _texts(call) if tag is None or f"#{tag}" in text.split()]
    if _field(call.payload, "format") == "json":
        content = json.dumps(kept, indent=1, ensure_ascii=False)
    else:
        content = "\n\n".join(kept)
    receipt = call.export(f"{content}\n")
    return f"wrote {receipt.path.name}, {receipt.size} bytes"


def pin(_: Board, call: ModuleCall) -> str:
    """Lets the module remember, for itself, which note was selected."""
    selected = _field(call.arguments, "selected")
    before = call.storage.get("pinned")
    if not isinstance(selected, str):
        return f"nothing is selected; pinned is {before or 'no note'}"
    call.storage.put("pinned", selected)
    return f"pinned {selected}, before that {before or 'no note'}"


def remind(board: Board, call: ModuleCall) -> str:
    """Puts a line above the notes, in the board's own words."""
    tag = _tag_of(call)
    named = [text for text in _texts(call) if tag is None or f"#{tag}" in text.split()]
    board.remind(f"{call.module_id} reminds you of {len(named)} notes")
    return f"reminded of {len(named)} notes"


def purge(board: Board, _: ModuleCall) -> str:
    """Empties the board; no module ever gets here."""
    return f"removed {board.clear()} notes"


_COMMANDS: tuple[tuple[CommandDeclaration, Command], ...] = (
    (
        CommandDeclaration(
            "notes.count", MutationScope.LOCAL, "Count notes", capabilities=("state.read",)
        ),
        count,
    ),
    (
        CommandDeclaration(
            "notes.words", MutationScope.LOCAL, "Count words", capabilities=("state.read",)
        ),
        words,
    ),
    (
        CommandDeclaration(
            "notes.export",
            MutationScope.LOCAL,
            "Export notes to a file",
            capabilities=("export.user.file", "state.read"),
            audit_tags=("export",),
        ),
        export,
    ),
    (
        CommandDeclaration(
            "notes.pin",
            MutationScope.LOCAL,
            "Remember the selected note",
            capabilities=("module.storage.local",),
        ),
        pin,
    ),
    (
        CommandDeclaration(
            "notes.remind",
            MutationScope.LOCAL,
            "Put a reminder above the notes",
            capabilities=("state.read",),
            requires_approval=ApprovalRule(
                "it puts a line above your notes until the board is closed", ApprovalLevel.SOFT
            ),
        ),
        remind,
    ),
    (
        CommandDeclaration(
            "notes.purge",
            MutationScope.DOC,
            "Remove every note",
            requires_approval=ApprovalRule(
                "it removes every note, and nothing brings them back",
                ApprovalLevel.HARD,
                approver="owner",
            ),
            mutates=("/notes",),
            audit_tags=("notes", "write"),
        ),
        purge,
    ),
)


def _texts(call: ModuleCall) -> list[str]:
    notes = _field(call.state(), "notes")
    found = notes if isinstance(notes, tuple) else ()
    return [text for each in found if isinstance(text := _field(each, "text"), str)]


def _tag_of(call: ModuleCall) -> str | None:
    tag = _field(call.payload, "tag")
    is_word = isinstance(tag, str) and tag.isalnum() and tag.isascii() and len(tag) <= _MOST_TAG
    return tag if is_word and isinstance(tag, str) else None


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None
