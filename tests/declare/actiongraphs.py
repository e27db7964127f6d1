"""Action graphs for tests, with a small host and a package that they are held against."""

from types import MappingProxyType
from typing import Any, Final

import pytest
from hypothesis import strategies as st

from consentry.base.canonical import digest_bytes
from consentry.base.errors import BadDocument
from consentry.declare.actiongraph import ActionGraph, GraphAction, GraphSurface
from consentry.declare.actiongraphcheck import check_action_graph
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostDescription,
    MutationScope,
)
from consentry.declare.modulevalues import (
    CommandBinding,
    EntryType,
    ModulePackage,
    Slot,
    UiAction,
    UiEntry,
)

MODULE: Final = "tidy-notes"
SOFT: Final = ApprovalRule("it shares a note", ApprovalLevel.SOFT)
HARD: Final = ApprovalRule("it empties the board", ApprovalLevel.HARD, "operator")
HOST: Final = HostDescription(
    "board",
    "2.1.0",
    (
        CommandDeclaration(
            "notes.add",
            MutationScope.DOC,
            capabilities=("state.read",),
            undo_command="notes.remove",
            mutates=("/notes",),
        ),
        CommandDeclaration("notes.remove", MutationScope.DOC, mutates=("/notes", "/trash")),
        CommandDeclaration(
            "notes.share", MutationScope.SYNC, requires_approval=SOFT, mutates=("/shared",)
        ),
        CommandDeclaration(
            "board.clear", MutationScope.DOC, requires_approval=HARD, mutates=("/notes", "/system")
        ),
        CommandDeclaration("view.zoom", MutationScope.LOCAL),
        CommandDeclaration("account.delete", MutationScope.SYNC, mutates=("/account",)),
    ),
    writable_paths=("/notes", "/trash", "/shared", "/a~1b", "/c~0d"),
)
BOUND: Final = ("notes.add", "notes.share", "board.clear", "view.zoom")


def package_with(entries: tuple[UiEntry, ...]) -> ModulePackage:
    """A package that binds each of these entries that has an action, by its own id."""
    return ModulePackage(
        module_id=MODULE,
        module_version="1.2.3",
        display_name="Tidy notes",
        description=None,
        min_app_version=None,
        max_app_version_exclusive=None,
        entries=entries,
        bindings=tuple(
            CommandBinding(f"bind-{each.entry_id}", each.entry_id, each.action.command_id)
            for each in entries
            if each.action is not None
        ),
        capabilities=(),
        extensions=MappingProxyType({}),
        digest=digest_bytes(b"package"),
        document=MappingProxyType({}),
    )


def button(entry_id: str, command_id: str, label: str | None = None) -> UiEntry:
    """An entry that calls a command."""
    return UiEntry(
        entry_id, Slot.TOOLBAR_INLINE, EntryType.BUTTON, label, action=UiAction(command_id)
    )


PACKAGE: Final = package_with(tuple(button(each, each) for each in BOUND))


def action(*calls: str, **fields: Any) -> GraphAction:
    """An action that calls these commands."""
    return GraphAction("act", "Act", calls, **fields)


def check(*actions: GraphAction) -> None:
    """Holds a graph of these actions against the package and the host above."""
    check_action_graph(ActionGraph(MODULE, actions), PACKAGE, HOST)


def refused(*actions: GraphAction) -> list[str]:
    """What the check says is wrong, each with its field."""
    with pytest.raises(BadDocument) as caught:
        check(*actions)
    return [
        f"{each.where.field}: {each.message}; {each.help_line}" for each in caught.value.problems
    ]


# Every text a document can hold: no NUL, no half of a surrogate pair.
TEXTS: Final = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1
)
IDS: Final = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
PATHS: Final = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
    min_size=1,
    max_size=3,
).map(lambda names: "".join(f"/{each.replace('~', '~0').replace('/', '~1')}" for each in names))
RULES: Final = st.builds(
    ApprovalRule, TEXTS, st.sampled_from(ApprovalLevel), st.one_of(st.none(), IDS)
)
ACTIONS: Final = st.builds(
    GraphAction,
    id=IDS,
    label=TEXTS,
    calls=st.lists(IDS, max_size=3).map(tuple),
    mutates=st.lists(PATHS, max_size=3, unique=True).map(tuple),
    requires_approval=st.one_of(st.booleans(), RULES),
    undo_command=st.one_of(st.none(), IDS),
    surface=st.lists(st.sampled_from(GraphSurface), unique=True).map(tuple),
)
GRAPHS: Final = st.builds(
    ActionGraph,
    st.from_regex(r"[a-z0-9][a-z0-9-]{2,10}", fullmatch=True),
    st.lists(ACTIONS, max_size=4, unique_by=lambda each: each.id).map(tuple),
)
