"""The board as a host of modules: which commands it has, what each takes, and the code behind them.

| command        | changes | a module needs                | besides                     |
|----------------|---------|-------------------------------|-----------------------------|
| `notes.count`  | local   | state.read                    |                             |
| `notes.words`  | local   | state.read                    |                             |
| `notes.export` | local   | export.user.file, state.read  | a file that the user chose  |
| `notes.pin`    | local   | module.storage.local          |                             |
| `notes.remind` | local   | state.read                    | soft approval               |
| `notes.tidy`   | doc     | state.write.tx, state.read    |                             |
| `notes.tag`    | doc     | state.write.tx, state.read    | soft approval               |
| `notes.add`    | doc     | state.write.tx                | soft approval               |
| `notes.purge`  | doc     | state.write.tx                | hard approval of the owner  |

A handler gets a `ModuleCall` and nothing else of the module. What the module sends along (`payload`) is
data that the handler reads as it reads any stranger's text: each field is looked at, and what is not as
expected counts as not there. No handler changes a note: what is to change it hands to `call.write`, as
operations that it made itself. They are previewed, decided and applied as one transaction when the action's
commands have ended, and can be rolled back.
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
from examples.noteboard.notes import (
    BoardProblem,
    Notes,
    Operations,
    adding,
    emptying,
    read_notes,
    tagging,
    tidying,
)

HOST_ID = "note-board"
VERSION = "1.0.0"

Command = Callable[[Board, ModuleCall], str]
_MOST_TAG = 20
_MOST_WORD = 40
_SAFE_WORD = "#-_"


def open_host(board: Board, host_type: Callable[..., ModuleHost] = ModuleHost) -> ModuleHost:
    """The host with all commands and the board's document; its session ends when it is closed."""
    host = host_type(
        HOST_ID, VERSION, commands(board), writable_paths=["/notes"], document=board.document_id
    )
    try:
        board.open(host)
    except BaseException:
        host.close()
        raise
    return host


def commands(board: Board) -> list[HostCommand]:
    """Each declaration with its handler, bound to this board."""
    return [HostCommand(declared, partial(handler, board)) for declared, handler in _COMMANDS]


def count(_: Board, call: ModuleCall) -> str:
    """How many notes there are, or how many have a tag."""
    texts = _texts(call)
    name = _tag_of(call)
    if name is None:
        return f"{len(texts)} notes"
    tagged = sum(f"#{name}" in text.split() for text in texts)
    return f"{tagged} of {len(texts)} notes have #{name}"


def words(_: Board, call: ModuleCall) -> str:
    """How many words the notes have together."""
    texts = _texts(call)
    return f"{sum(len(text.split()) for text in texts)} words in {len(texts)} notes"


def export(_: Board, call: ModuleCall) -> str:
    """Writes the notes, all or those with a tag, to the file that the user chose."""
    name = _tag_of(call)
    kept = [text for text in _texts(call) if name is None or f"#{name}" in text.split()]
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
    name = _tag_of(call)
    named = [text for text in _texts(call) if name is None or f"#{name}" in text.split()]
    board.remind(f"{call.module_id} reminds you of {len(named)} notes")
    return f"reminded of {len(named)} notes"


def tidy(_: Board, call: ModuleCall) -> str:
    """Takes away empty lines, needless spaces, and notes that are there twice."""
    return _wanted(call, tidying(_notes(call)), "there is nothing to tidy")


def tag(_: Board, call: ModuleCall) -> str:
    """Puts a tag behind the notes that have a word."""
    name, word = _tag_of(call), _word_of(call)
    if name is None or word is None:
        return "it does not say which tag, or for which word"
    return _wanted(call, tagging(_notes(call), name, word), f"no note has {word} and lacks #{name}")


def add(board: Board, call: ModuleCall) -> str:
    """Puts a note on the board; its place and its id are the board's to choose."""
    text = _field(call.payload, "text")
    if not isinstance(text, str):
        return "it does not say what is to stand in the note"
    try:
        wanted = adding(board.notes(), text)
    except BoardProblem as problem:
        return str(problem)
    return _wanted(call, wanted, "")


def purge(board: Board, call: ModuleCall) -> str:
    """Empties the board."""
    return _wanted(call, emptying(board.notes()), "the board is empty already")


def _wanted(call: ModuleCall, operations: Operations, otherwise: str) -> str:
    """Asks for these changes, if there are any; what was asked for, in words."""
    if not operations:
        return otherwise
    call.write(operations)
    return "one change" if len(operations) == 1 else f"{len(operations)} changes"


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
            "notes.tidy",
            MutationScope.DOC,
            "Take away what is there twice",
            capabilities=("state.read",),
            mutates=("/notes",),
            audit_tags=("notes", "write"),
        ),
        tidy,
    ),
    (
        CommandDeclaration(
            "notes.tag",
            MutationScope.DOC,
            "Tag notes",
            capabilities=("state.read",),
            requires_approval=ApprovalRule("it changes what you wrote", ApprovalLevel.SOFT),
            mutates=("/notes",),
            audit_tags=("notes", "write"),
        ),
        tag,
    ),
    (
        CommandDeclaration(
            "notes.add",
            MutationScope.DOC,
            "Add a note",
            requires_approval=ApprovalRule(
                "it puts words among yours that you did not write", ApprovalLevel.SOFT
            ),
            mutates=("/notes",),
            audit_tags=("notes", "write"),
        ),
        add,
    ),
    (
        CommandDeclaration(
            "notes.purge",
            MutationScope.DOC,
            "Remove every note",
            requires_approval=ApprovalRule(
                "it removes every note", ApprovalLevel.HARD, approver="owner"
            ),
            mutates=("/notes",),
            audit_tags=("notes", "write"),
        ),
        purge,
    ),
)


def _notes(call: ModuleCall) -> Notes:
    return read_notes(call.state())


def _texts(call: ModuleCall) -> list[str]:
    return [each.text for each in _notes(call).notes]


def _tag_of(call: ModuleCall) -> str | None:
    found = _field(call.payload, "tag")
    is_word = isinstance(found, str) and found.isalnum() and found.isascii()
    return found if is_word and isinstance(found, str) and len(found) <= _MOST_TAG else None


def _word_of(call: ModuleCall) -> str | None:
    found = _field(call.payload, "word")
    if not isinstance(found, str) or not 0 < len(found) <= _MOST_WORD:
        return None
    return found if all(each.isalnum() or each in _SAFE_WORD for each in found) else None


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None
