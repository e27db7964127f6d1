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
    determine_permission_set,
)
from consentry.decide.identity import SYSTEM, Identity
from consentry.store.archive import Selection, chosen_events
from consentry.store.ledger import Ledger
from consentry.store.rebuild import rebuild
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import APPROVER, MINUTE, NOW, OTHER_MACHINE, OWNER, answer
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.escalating import (
    MINIMAL,
    NET,
    PURE,
    ask_of,
    asked,
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


def by_hand(keepers: Keepers, capability: Capability, to: PermissionSet) -> Capability:
    """The set that a person's command gives it."""
    return keepers.capabilities.update_permission_set(
        capability.capability_id, to, approved_by=OWNER, reason="as agreed", by_hand=True
    )


def refused(keepers: Keepers, capability: Capability, to: PermissionSet, **how: object) -> str:
    """The code with which a change is refused; nothing of it is recorded."""
    before = len(events(keepers.ledger))
    fields: dict[str, object] = {"approved_by": OWNER, **how}
    with pytest.raises(ConsentryError) as caught:
        keepers.capabilities.update_permission_set(
            capability.capability_id,
            to,
            **fields,  # type: ignore[arg-type]
        )
    assert len(events(keepers.ledger)) == before
    assert now_of(keepers, capability) == capability
    return str(caught.value.code)


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


def test_an_update_is_a_legal_step_with_its_row(keepers: Keepers) -> None:
    """ESCALATION AC4, §step-3: set, confidence and row in one; the source stays what it was."""
    capability = saved(keepers)
    pass_time(keepers, MINUTE)
    after = keepers.capabilities.update_permission_set(
        capability.capability_id, NET, approved_by=APPROVER, reason="why", detected_operation="net"
    )
    assert after == now_of(keepers, capability)
    assert (after.permission_set, after.permission_confidence) == (NET, 1.0)
    assert after.permission_source is PermissionSource.EMERGENT
    [entry] = keepers.audit.get_audit_log(capability.capability_id)
    assert (entry.from_set, entry.to_set, entry.approved_by) == (MINIMAL, NET, APPROVER)
    assert (entry.reason, entry.detected_operation) == ("why", "net")


@pytest.mark.parametrize(
    ("start", "wanted"),
    [
        (NET, FILES),
        (NET, READONLY),
        (FILES, READONLY),
        (STANDARD, MINIMAL),
        (MINIMAL, MINIMAL),
        (MINIMAL, TRUSTED),
        (STANDARD, TRUSTED),
    ],
)
def test_an_illegal_step_is_refused(
    keepers: Keepers, start: PermissionSet, wanted: PermissionSet
) -> None:
    """ESCALATION §step-2, §step-3: its own code; row, log and ledger stay as they were."""
    capability = saved(keepers, inferred=Inferred(start, 0.95))
    assert refused(keepers, capability, wanted) == "permission-step"


@pytest.mark.parametrize(("start", "wanted"), [(NET, FILES), (READONLY, NET), (FILES, NET)])
def test_an_illegal_step_is_refused_by_hand_too(
    keepers: Keepers, start: PermissionSet, wanted: PermissionSet
) -> None:
    """Neither a legal step, nor down, nor `trusted`."""
    capability = saved(keepers, inferred=Inferred(start, 0.95))
    assert refused(keepers, capability, wanted, by_hand=True) == "permission-step"


@pytest.mark.parametrize(
    ("start", "wanted"),
    [
        (MINIMAL, NET),
        (READONLY, STANDARD),
        (STANDARD, NET),
        (STANDARD, MINIMAL),
        (NET, MINIMAL),
        (MINIMAL, TRUSTED),
        (STANDARD, TRUSTED),
        (READONLY, READONLY),
    ],
)
def test_a_person_may_go_up_down_and_to_trusted(
    keepers: Keepers, start: PermissionSet, wanted: PermissionSet
) -> None:
    """ESCALATION §step-2: logged as `manual`, by the person, and given by hand from then on."""
    capability = saved(keepers, inferred=Inferred(start, 0.95))
    after = by_hand(keepers, capability, wanted)
    assert (after.permission_set, after.permission_source) == (wanted, PermissionSource.MANUAL)
    assert determine_permission_set(after) is wanted
    [entry] = keepers.audit.get_audit_log()
    assert (entry.from_set, entry.to_set, entry.approved) == (start, wanted, True)
    assert (entry.approved_by, entry.detected_operation) == (OWNER, "manual")
    assert entry.reason == "as agreed"


def test_setting_by_hand_what_is_set_by_hand_changes_nothing(keepers: Keepers) -> None:
    """No event and no row; the first time it is a change: from then on it is sure."""
    capability = saved(keepers, inferred=Inferred(NET, 0.5))
    first = by_hand(keepers, capability, NET)
    assert determine_permission_set(first) is NET
    before = len(events(keepers.ledger))
    assert by_hand(keepers, first, NET) == first
    assert len(events(keepers.ledger)) == before


@pytest.mark.parametrize("somebody", [SYSTEM, Identity("policy:" + "a" * 64), Identity("root")])
def test_only_a_person_sets_by_hand(keepers: Keepers, somebody: Identity) -> None:
    """Neither the system nor a policy has hands."""
    capability = saved(keepers)
    code = refused(keepers, capability, NET, by_hand=True, approved_by=somebody)
    assert code == "decision-field"


def test_no_step_passes_for_one_by_hand(keepers: Keepers) -> None:
    """The word `manual` alone opens nothing."""
    capability = saved(keepers)
    code = refused(keepers, capability, TRUSTED, detected_operation="manual")
    assert code == "decision-field"


def test_a_set_by_hand_can_be_given_with_the_code(keepers: Keepers) -> None:
    """A step from `minimal` in the log: of new code nothing was open before."""
    store = keepers.capabilities
    first = store.save("fetch", Language.PYTHON, "1\n", READS, by=OWNER, set_by_hand=NET)
    second = store.save("fetch", Language.PYTHON, "2\n", PURE, by=OWNER, set_by_hand=TRUSTED)
    assert (first.permission_set, first.permission_source) == (NET, PermissionSource.MANUAL)
    assert (second.version, second.permission_set) == (2, TRUSTED)
    log = keepers.audit.get_audit_log(first.capability_id)
    assert [(each.from_set, each.to_set) for each in log] == [(MINIMAL, NET), (MINIMAL, TRUSTED)]
    third = store.save("fetch", Language.PYTHON, "2\n", PURE, by=OWNER, set_by_hand=READONLY)
    assert (third.version, third.permission_set) == (2, READONLY)


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


def test_a_row_that_cannot_be_is_not_believed(keepers: Keepers) -> None:
    """Code that somebody put there behind the ledger's back does not run; rebuilding repairs it."""
    capability = saved(keepers)
    with keepers.ledger.database.writing() as transaction:
        transaction.run("UPDATE workflow_pattern SET code = 'import os'")
    with pytest.raises(ConsentryError) as caught:
        keepers.capabilities.find(capability.capability_id)
    assert caught.value.code == "ledger-corrupt"
    assert "rebuild" in caught.value.help_line
    rebuild(keepers.ledger.database)
    assert now_of(keepers, capability) == capability


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
