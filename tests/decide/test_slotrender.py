"""What a host gets to show of a module is data, and only what the module declared."""

from typing import Any

import pytest

from consentry.base.canonical import digest_json
from consentry.base.safetext import is_plain
from consentry.decide.slotrender import MOST_LETTERS, RenderedEntry, rendered
from consentry.declare.modulevalues import (
    CommandBinding,
    EntryType,
    ModulePackage,
    Slot,
    UiAction,
    UiEntry,
)

FIELDS = {"moduleId", "entryId", "slot", "type", "label", "bindingId"}
HOSTILE = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "javascript:alert(1)",
    "data:text/html,<b>",
    "url(https://attacker.example/x.css)",
    "{{ 7 * 7 }} ${7*7} <%= 7 %>",
    "\x1b]0;title\x07\x1b[2Jgone",
    "save \u202elanoitidnocnu",
    "line\nfeed\r\0",
)


def entry(
    entry_id: str,
    slot: Slot = Slot.LEFT_PANEL,
    label: str | None = None,
    *,
    command_id: str | None = None,
) -> UiEntry:
    """A button."""
    action = None if command_id is None else UiAction(command_id, {"onclick": "alert(1)"})
    return UiEntry(entry_id, slot, EntryType.BUTTON, label, action)


def package(*entries: UiEntry, bindings: tuple[CommandBinding, ...] = ()) -> ModulePackage:
    """A package that passed, with these entries."""
    return ModulePackage(
        module_id="tag-notes",
        module_version="1.0.0",
        display_name="Tags",
        description="<script>alert(1)</script>",
        min_app_version=None,
        max_app_version_exclusive=None,
        entries=entries,
        bindings=bindings,
        capabilities=("ui.slot.render",),
        extensions={"x-style": "body { display: none }", "x-url": "https://attacker.example"},
        digest=digest_json({}),
        document={},
    )


def test_only_the_entries_of_the_slot_are_given_in_declared_order() -> None:
    """MODULES §limit-render-dom: nothing is shown in a slot that was not declared for it."""
    given = package(
        entry("second", Slot.TOOLBAR_INLINE),
        entry("b", label="Add a tag", command_id="note.tag"),
        entry("a"),
        bindings=(
            CommandBinding("other", "second", "note.list"),
            CommandBinding("tag", "b", "note.tag", {"html": "<b>"}),
        ),
    )
    assert rendered(given, Slot.LEFT_PANEL) == (
        RenderedEntry("tag-notes", "b", Slot.LEFT_PANEL, EntryType.BUTTON, "Add a tag", "tag"),
        RenderedEntry("tag-notes", "a", Slot.LEFT_PANEL, EntryType.BUTTON, None, None),
    )
    assert [each.entry_id for each in rendered(given, Slot.TOOLBAR_INLINE)] == ["second"]
    assert rendered(given, Slot.TOOLBAR_BOTTOM) == ()
    assert sum(len(rendered(given, slot)) for slot in Slot) == len(given.entries)


def test_an_entry_without_an_action_calls_nothing() -> None:
    """Also where a binding names it: without an action there is nothing that a person could use."""
    given = package(entry("a"), bindings=(CommandBinding("x", "a", "note.tag"),))
    assert [each.binding_id for each in rendered(given, Slot.LEFT_PANEL)] == [None]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_package_says_there_is_nothing_but_these_fields(text: str) -> None:
    """MODULES §limit-render-script: no field for script, markup, style or an address; text stays text.

    Payloads, contexts, extensions and descriptions are not part of it at all.
    """
    given = package(
        entry("a", label=text, command_id="note.tag"),
        bindings=(CommandBinding("tag", "a", "note.tag", {"script": text}, {"style": text}),),
    )
    [shown] = rendered(given, Slot.LEFT_PANEL)
    assert set(shown.to_json()) == FIELDS
    assert shown.to_json() == {
        "moduleId": "tag-notes",
        "entryId": "a",
        "slot": "left-panel",
        "type": "button",
        "label": text,
        "bindingId": "tag",
    }
    assert {type(each) for each in shown.to_json().values()} == {str}
    assert shown.safe_label.isprintable()
    assert (shown.safe_label == text) == is_plain(text)


def test_a_rendered_entry_cannot_be_changed_or_added_to() -> None:
    """MODULES §limit-render-dom: what the host got is what was declared, for as long as it holds it."""
    [shown] = rendered(package(entry("a", label="Add")), Slot.LEFT_PANEL)
    held: Any = shown
    for name in ("label", "slot", "html", "onclick"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(held, name, "<script>")
    assert not hasattr(held, "__dict__")
    assert isinstance(rendered(package(), Slot.LEFT_PANEL), tuple)
    shown.to_json()["label"] = "changed"
    assert shown.label == "Add"


@pytest.mark.parametrize(("letters", "is_cut"), [(200, False), (201, True), (1_000_000, True)])
def test_a_label_has_an_end(letters: int, is_cut: bool) -> None:  # noqa: FBT001 - a case
    """At most 200 letters are given, and one sees that some are missing."""
    [shown] = rendered(package(entry("a", label="é" * letters)), Slot.LEFT_PANEL)
    assert shown.label is not None
    assert len(shown.label) == MOST_LETTERS
    assert shown.label.endswith("…") == is_cut
    assert len(shown.safe_label) <= MOST_LETTERS


def test_without_a_label_the_id_is_said() -> None:
    """An entry always has something to be called by."""
    [shown] = rendered(package(entry("tag\x1b[2J")), Slot.LEFT_PANEL)
    assert shown.label is None
    assert shown.safe_label == "tag\\u{1b}[2J"
