"""Saved capabilities in a real store: kept with their sets, versions and history (ESCALATION AC4)."""

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.decide.capabilities import (
    MOST_CODE,
    Capability,
    Inferred,
    Language,
    PermissionSource,
)
from consentry.store.archive import Selection, chosen_events
from consentry.store.ledger import Ledger
from consentry.store.rebuild import rebuild
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import MINUTE, NOW, OTHER_MACHINE, OWNER, answer
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.escalating import (
    MINIMAL,
    NET,
    PURE,
    ask_of,
    asked,
    by_hand,
    now_of,
    saved,
    told_by_all,
)
from tests.store.keepers import Keepers, all_rows, events, pass_time, types

READONLY, FILES = PermissionSet.READONLY, PermissionSet.FILESYSTEM
STANDARD, TRUSTED = PermissionSet.MCP_STANDARD, PermissionSet.TRUSTED
READS = Inferred(READONLY, 0.9, ("open(): data",))
TABLES = ("permission_audit_log", "workflow_pattern")


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def test_a_saved_capability_is_found_again(keepers: Keepers, store: Store) -> None:
    """By id and by name, in another process, with what was inferred of it."""
    capability = saved(keepers, inferred=READS)
    again = Keepers(Ledger(store.open(), WRITER)).capabilities
    assert again.find(capability.capability_id) == capability
    assert again.named("fetch") == capability
    assert list(again.list()) == [capability]
    assert (capability.version, capability.permission_source) == (1, PermissionSource.EMERGENT)
    assert (capability.permission_set, capability.permission_confidence) == (READONLY, 0.9)
    assert capability.detected_patterns == ("open(): data",)
    assert (capability.created_at, capability.updated_at) == (NOW, NOW)
    [event] = events(keepers.ledger)
    assert (event["type"], event["subject"]) == ("workflow.pattern.saved", capability.subject)
    assert Capability.from_json(event["payload"]) == capability
    assert event["actor"] == OWNER


@pytest.mark.parametrize("wrong", ["", "nobody", "'; --", "a\0b", "\ud800", "x" * 500])
def test_what_was_never_saved_is_not_found(keepers: Keepers, wrong: str) -> None:
    """Whatever the words look like."""
    saved(keepers)
    assert keepers.capabilities.find(wrong) is None
    assert keepers.capabilities.named(wrong) is None
    assert list(keepers.capabilities.history(wrong)) == []
    with pytest.raises(ConsentryError) as caught:
        keepers.capabilities.update_permission_set(wrong, NET, approved_by=OWNER)
    assert caught.value.code == "capability-missing"


def test_capabilities_are_listed_by_name(keepers: Keepers) -> None:
    """Whichever was saved first."""
    for name in ("b", "a.1", "a", "c"):
        saved(keepers, name, f"print({name!r})\n")
    assert [each.name for each in keepers.capabilities.list()] == ["a", "a.1", "b", "c"]


def test_a_list_of_heads_says_all_but_the_code(keepers: Keepers) -> None:
    """A list of many large capabilities reads none of their code."""
    for name in ("b", "a"):
        saved(keepers, name, f"print({name!r})\n")
    whole = [dict(each.to_json()) for each in keepers.capabilities.list()]
    assert [each.pop("code") for each in whole] == ["print('a')\n", "print('b')\n"]
    assert [each.to_json() for each in keepers.capabilities.heads()] == whole


def test_a_language_that_is_not_run_is_refused(keepers: Keepers) -> None:
    """With the code that the command line has for it, and nothing is saved."""
    with pytest.raises(ConsentryError) as caught:
        keepers.capabilities.save("a", "ruby", "1", READS, by=OWNER)  # type: ignore[arg-type]
    assert caught.value.code == "capability-code"
    assert list(keepers.capabilities.list()) == []


def test_the_same_code_is_saved_once(keepers: Keepers) -> None:
    """Nothing is recorded, and a set that was approved stays."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    keepers.requests.answer(request.request_id, answer())
    before = len(events(keepers.ledger))
    again = saved(keepers, inferred=READS)
    assert again == now_of(keepers, capability)
    assert again.permission_set is NET
    assert len(events(keepers.ledger)) == before


def test_other_code_is_a_new_version_inferred_anew(keepers: Keepers) -> None:
    """CONTRACTS §5: what was approved holds until the code changes; the id and the name stay."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    keepers.requests.answer(request.request_id, answer())
    pass_time(keepers, MINUTE)
    after = saved(keepers, code="print(2)\n", inferred=READS)
    assert (after.capability_id, after.version) == (capability.capability_id, 2)
    assert (after.permission_set, after.permission_confidence) == (READONLY, 0.9)
    assert (after.created_at, after.updated_at) == (NOW, NOW.plus(MINUTE))
    assert list(keepers.capabilities.list()) == [after]


def test_the_same_words_in_another_language_are_other_code(keepers: Keepers) -> None:
    """They would do something else."""
    saved(keepers, code="1;\n")
    store = keepers.capabilities
    after = store.save("fetch", Language.TYPESCRIPT, "1;\n", PURE, by=OWNER)
    assert (after.version, after.language) == (2, Language.TYPESCRIPT)


def test_a_set_by_hand_does_not_pass_to_other_code(keepers: Keepers) -> None:
    """`trusted` was for the code that the person saw."""
    trusted = by_hand(keepers, saved(keepers), TRUSTED)
    after = saved(keepers, code="import os\n", inferred=READS)
    assert trusted.permission_source is PermissionSource.MANUAL
    assert (after.permission_set, after.permission_source) == (READONLY, PermissionSource.EMERGENT)


@pytest.mark.parametrize(
    ("name", "code"), [("Fetch", "1"), ("", "1"), ("a/b", "1"), ("a", "x" * (MOST_CODE + 1))]
)
def test_what_cannot_be_a_capability_is_not_saved(keepers: Keepers, name: str, code: str) -> None:
    """Neither a row nor an event is left."""
    with pytest.raises(ConsentryError):
        saved(keepers, name, code)
    assert types(keepers.ledger) == []
    assert all_rows(keepers.ledger.database, *TABLES) == {table: [] for table in TABLES}


def test_the_largest_code_is_kept(keepers: Keepers) -> None:
    """Also with characters that are none in a terminal."""
    code = ("# ä\u202e\x1b'\"\\\n" * MOST_CODE).encode()[:MOST_CODE].decode(errors="ignore")
    assert saved(keepers, code=code) == keepers.capabilities.named("fetch")


def test_its_history_has_every_version_and_every_set(keepers: Keepers) -> None:
    """Oldest first, each as it was; the last is the capability as it is."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    keepers.requests.answer(request.request_id, answer())
    by_hand(keepers, capability, MINIMAL)
    saved(keepers, code="print(2)\n", inferred=READS)
    saved(keepers, "other", "print(3)\n")
    history = keepers.capabilities.history(capability.capability_id)
    assert [(each.version, each.permission_set) for each in history] == [
        (1, MINIMAL),
        (1, NET),
        (1, MINIMAL),
        (2, READONLY),
    ]
    assert history[-1] == now_of(keepers, capability)


def test_changes_of_one_moment_have_their_order(keepers: Keepers) -> None:
    """On a clock that stands still, or went back: the last change is the one that holds."""
    capability = saved(keepers)
    sets = [NET, STANDARD, MINIMAL, READONLY, FILES]
    for wanted in sets:
        by_hand(keepers, capability, wanted)
    back = Keepers(keepers.ledger, ManualClock(Instant(NOW.unix_ms - 60_000)))
    by_hand(back, capability, STANDARD)
    history = keepers.capabilities.history(capability.capability_id)
    assert [each.permission_set for each in history] == [MINIMAL, *sets, STANDARD]
    assert now_of(keepers, capability) == history[-1]


def test_a_rebuilt_table_is_the_same_on_machines_with_other_clocks(
    keepers: Keepers, store: Store
) -> None:
    """Two machines change one capability in turn, one of them three minutes ahead."""
    capability = saved(keepers)
    ahead = Keepers(
        Ledger(store.open(), OTHER_MACHINE),
        ManualClock(NOW.plus(Duration(3 * 60_000))),
        OTHER_MACHINE,
    )
    for turn, wanted in enumerate([NET, STANDARD, MINIMAL, READONLY]):
        by_hand((ahead, keepers)[turn % 2], capability, wanted)
    request = asked(keepers, ask_of(now_of(keepers, capability), FILES))
    ahead.requests.answer(request.request_id, answer())
    before = all_rows(keepers.ledger.database, *TABLES)
    assert now_of(keepers, capability).permission_set is FILES
    rebuild(keepers.ledger.database)
    assert all_rows(keepers.ledger.database, *TABLES) == before
    assert now_of(keepers, capability).permission_set is FILES


def test_archiving_takes_neither_the_capability_nor_its_history(keepers: Keepers) -> None:
    """What its events say stays in the ledger, and so does the log."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    keepers.requests.answer(request.request_id, answer())
    later = NOW.plus(Duration(10**9))
    with keepers.ledger.database.reading() as view:
        chosen = [row.seq for row in chosen_events(view, Selection(later, later))]
    kept = [each for each in events(keepers.ledger) if each["seq"] not in chosen]
    assert [each["type"] for each in kept] == [
        "workflow.pattern.saved",
        "permission.escalation.decided",
        "workflow.pattern.saved",
    ]


@pytest.mark.parametrize(
    "change",
    ["code = 'import os'", "permission_set = 'trusted'", f"detected_patterns = '{'[' * 100_000}'"],
)
def test_a_row_that_cannot_be_is_not_believed(keepers: Keepers, change: str) -> None:
    """Code that somebody put there behind the ledger's back does not run; rebuilding repairs it."""
    capability = saved(keepers)
    with keepers.ledger.database.writing() as transaction:
        transaction.run(f"UPDATE workflow_pattern SET {change}")  # noqa: S608 - our own
    with pytest.raises(ConsentryError) as caught:
        keepers.capabilities.find(capability.capability_id)
    assert caught.value.code == "ledger-corrupt"
    assert "rebuild" in caught.value.help_line
    rebuild(keepers.ledger.database)
    assert now_of(keepers, capability) == capability


def test_names_are_known_without_reading_what_is_saved(keepers: Keepers) -> None:
    """By id, in their order; a row that cannot be believed hides no other one's name."""
    second, first = saved(keepers, "b"), saved(keepers, "a", code="2\n")
    with keepers.ledger.database.writing() as transaction:
        transaction.run("UPDATE workflow_pattern SET code = 'import os' WHERE name = 'a'")
    found = keepers.capabilities.names()
    assert list(found.items()) == [(first.capability_id, "a"), (second.capability_id, "b")]


def test_two_processes_that_save_one_name_make_one_capability(store: Store) -> None:
    """Whoever is second makes the next version; nothing is lost and no name is there twice."""
    names = [f"name-{number}" for number in range(12)]
    writers = (WRITER, f"machine-{'f' * 32}")
    argvs = [
        ["tests.store.escalating", "save", str(store.url_or_path), writer] for writer in writers
    ]
    said = told_by_all(argvs, [names, names])
    keepers = Keepers(Ledger(store.open(), WRITER))
    for number, name in enumerate(names):
        pair = sorted(lines[number].split() for lines in said)
        assert pair[0][0] == pair[1][0]
        found = keepers.capabilities.named(name)
        assert found is not None
        assert sorted([pair[0][1], pair[1][1]]) == ["1", "2"]
        assert (found.capability_id, found.version) == (pair[0][0], 2)
        assert [each.version for each in keepers.capabilities.history(found.capability_id)] == [
            1,
            2,
        ]
    assert len(keepers.capabilities.list()) == len(names)
    assert isinstance(keepers.ledger.history.verify(), list)
