"""The page of the board: one document, no script, made by `markup` only.

From above: the last outcome, what has to be recovered, the questions and changes that wait, then the notes
between the slots of modules, then the modules themselves, the changes so far, and what the ledger has of them. Every button is a form that posts.
"""

from datetime import datetime

from consentry.modules import Slot
from examples.noteboard.changepart import history_part, recovery_part, waiting_part
from examples.noteboard.deeds import Deeds
from examples.noteboard.markup import Markup, element, page
from examples.noteboard.modulepart import import_form, module_list, slot
from examples.noteboard.notes import Note
from examples.noteboard.questions import button, form, hidden, is_about_change, question_card
from examples.noteboard.record import Entry, Record
from examples.noteboard.told import Told

MOST_EVENTS = 14
MOST_FILES = 20
_LOOKS = {"done": "done", "waiting": "waiting", "rejected": "rejected"}


def board_page(deeds: Deeds, record: Record, token: str) -> bytes:
    """The whole board as it is now."""
    changes = deeds.changes
    pending = [each for each in deeds.host.pending() if not is_about_change(each)]
    questions = [question_card(each, token, deeds.host) for each in pending]
    main = element(
        "main",
        _outcome(deeds.last),
        recovery_part(changes, token),
        element("section", element("h2", "Modules ask you"), *questions, id="questions")
        if questions
        else None,
        waiting_part(changes, deeds.host.description, token),
        element(
            "div",
            element("aside", slot(deeds, Slot.LEFT_PANEL, token)),
            _notes(deeds, token),
            _class="columns",
        ),
        element(
            "div",
            _modules(deeds, record, token),
            element("div", history_part(changes, token), _events(record.latest(MOST_EVENTS))),
            _class="columns even",
        ),
    )
    return page("Note board", _header(deeds, token), main, _footer(deeds))


def export_page(deeds: Deeds, module_id: str, action_id: str, token: str) -> bytes:
    """Where the person says to which file an export goes."""
    there = sorted(each.name for each in deeds.board.exports.iterdir())[:MOST_FILES]
    asking = form(
        token,
        "/export",
        hidden(module=module_id, action=action_id),
        element("h2", "Choose a file"),
        element("p", f"{module_id} is to export notes. Where to is your choice, for this once."),
        element("p", element("small", "Folder"), element("code", str(deeds.board.exports))),
        element("p", element("small", "Files there now"), ", ".join(there) or "none"),
        element(
            "label",
            "Name of the file",
            element("input", type="text", name="name", required=True, autocomplete="off"),
        ),
        element(
            "label",
            element("input", type="checkbox", name="overwrite", value="yes"),
            "Replace the file if one has this name",
            _class="check",
        ),
        element("div", button("Export", "yes"), element("a", "Back", href="/"), _class="row"),
        _class="card dialog",
    )
    return page("Choose a file", element("main", asking))


def plain_page(title: str, words: str) -> bytes:
    """A page that only says something."""
    return page(title, element("main", element("h1", title), element("p", words), _class="plain"))


def _header(deeds: Deeds, token: str) -> Markup:
    return element(
        "header",
        element("h1", "Note board"),
        slot(deeds, Slot.CHROME_TOP_TOOLBAR, token),
        _class="top",
    )


def _outcome(told: Told | None) -> Markup | None:
    if told is None:
        return None
    states = [element("li", each) for each in told.states]
    return element(
        "section",
        element(
            "div",
            element("strong", told.title),
            element("span", told.status, _class="status"),
            element("code", told.code) if told.code else None,
            _class="row",
        ),
        element("p", told.why) if told.why else None,
        *(element("p", each, _class="result") for each in told.results),
        element("ol", *states, _class="states") if states else None,
        _class=f"outcome {_LOOKS.get(told.status, 'done')}",
        id="outcome",
        role="status",
    )


def _notes(deeds: Deeds, token: str) -> Markup:
    held = deeds.board.notes()
    cards = [_note(each, token, is_selected=each.note_id == held.selected) for each in held.notes]
    adding = form(
        token,
        "/notes/add",
        element("textarea", name="text", rows="3", required=True, placeholder="A new note"),
        button("Add"),
        _class="note adding",
    )
    return element(
        "section",
        *(element("p", each, _class="reminder") for each in deeds.board.reminders),
        slot(deeds, Slot.TOOLBAR_INLINE, token),
        element("div", *cards, adding, _class="notes", id="notes"),
        slot(deeds, Slot.TOOLBAR_BOTTOM, token),
        _class="board",
    )


def _note(note: Note, token: str, *, is_selected: bool) -> Markup:
    lines = [element("p", each) for each in note.text.split("\n") if each.strip()]
    choices = element(
        "footer",
        form(
            token,
            "/notes/select",
            hidden(note=note.note_id),
            button("Selected" if is_selected else "Select", "small"),
        ),
        form(token, "/notes/remove", hidden(note=note.note_id), button("Remove", "small quiet")),
    )
    return element(
        "article",
        element("div", *lines),
        choices,
        _class="note selected" if is_selected else "note",
        data_note=note.note_id,
    )


def _modules(deeds: Deeds, record: Record, token: str) -> Markup:
    automation = form(token, "/automation", button("Run automation once", "small"))
    return element(
        "section",
        element("header", element("h2", "Modules"), automation),
        module_list(deeds, record, token),
        import_form(token),
        id="modules",
    )


def _events(entries: list[Entry]) -> Markup:
    rows = [
        element(
            "li",
            element("time", _clock(each.at)),
            element("code", each.type, _class=_kind(each.type)),
            element("div", element("strong", each.module_id), element("span", each.what)),
        )
        for each in entries
    ]
    inside = element("ol", *rows) if rows else element("p", "Nothing yet.")
    return element(
        "section",
        element("h2", "From the ledger"),
        element("div", inside, _class="card events"),
        element(
            "p",
            "The newest events about modules; consentry audit log has all of them.",
            _class="meta",
        ),
        id="events",
    )


def _kind(event_type: str) -> str:
    refused = ("rejected", "denied")
    if event_type.endswith(refused):
        return "bad"
    return "good" if event_type.endswith(("approved", "used")) else "neutral"


def _clock(at: str) -> str:
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return at


def _footer(deeds: Deeds) -> Markup:
    words = (
        "Modules are data: no code of theirs runs. What changes a note is a transaction, yours or one that "
        "you can look at, and can be rolled back. "
        "What you allow for this session ends when the board is closed."
    )
    return element("footer", element("p", words), element("code", deeds.host.session_id))
