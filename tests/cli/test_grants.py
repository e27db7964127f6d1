"""`consentry grants list`, `revoke` and `explain`, in real processes beside a host that runs."""

from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import (
    HOSTILE,
    asked,
    events,
    granted,
    harmless,
    host_at,
    imported,
    named,
    other_host,
    package,
    put,
    renamed,
    told,
)

pytestmark = pytest.mark.timeout(180)


def test_grants_are_listed_with_how_they_stand(consentry: CommandLine) -> None:
    """Those that hold; with `--all` the revoked, void and expired ones, each with its word."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "ui.slot.render")
        assert consentry("module", "import", str(_newer(consentry))).status == 0
        granted(application, "state.read")
        granted(application, "module.storage.local", decision="approve_session")
        found = told(consentry, "grants", "list")
        assert found["kind"] == "grant-list"
        assert [(each["capabilityId"], each["state"]) for each in found["grants"]] == [
            ("state.read", "holds"),
            ("module.storage.local", "holds"),
        ]
    revoked = consentry("grants", "list", "--quiet").out.split()[0]
    assert consentry("grants", "revoke", revoked).status == 0
    assert consentry("grants", "list").out == "nothing is granted\n"
    states = {
        each["capabilityId"]: each["state"]
        for each in told(consentry, "grants", "list", "--all")["grants"]
    }
    assert states == {
        "ui.slot.render": "void",
        "state.read": "revoked",
        "module.storage.local": "session-over",
    }
    text = consentry("grants", "list", "--all").out
    for word in ("void: other content of the module came", "revoked 2", "its session is over"):
        assert word in text


def _newer(line: CommandLine) -> str:

    return str(put(line, "newer.json", package(moduleVersion="1.3.0")))


def test_a_list_is_narrowed_by_module_and_host(consentry: CommandLine) -> None:
    """And a host that nobody knows is no empty list."""
    with host_at(consentry) as first, host_at(consentry, other_host()) as second:
        for application in (first, second):
            application.import_module(package())
            granted(application, "state.read")
        first.import_module(renamed("other-tools"))
        granted(first, "state.read", module_id="other-tools")
    assert len(told(consentry, "grants", "list")["grants"]) == 3
    of_module = told(consentry, "grants", "list", "--module", "note-tools")["grants"]
    assert [each["hostId"] for each in of_module] == ["note-board", "other-board"]
    (one,) = told(consentry, "grants", "list", "--host", "other-board")["grants"]
    assert one["moduleId"] == "note-tools"
    assert_error(consentry("grants", "list", "--host", "nobody"), Code.HOST_UNKNOWN)


def test_looking_makes_no_ledger(consentry: CommandLine, home: Path) -> None:
    """Nothing is granted where nothing was ever recorded, and there is nothing to explain."""
    assert consentry("grants", "list").out == "nothing is granted\n"
    assert_error(consentry("grants", "explain", "note-tools", "state.read"), Code.MODULE_UNKNOWN)
    assert_error(consentry("grants", "explain", "grant-0198c2f4-71"), Code.ID_UNKNOWN)
    assert_error(consentry("grants", "explain", "event-0198c2f4-71"), Code.EVENT_UNKNOWN)
    from pathlib import Path

    assert not (Path(str(home)) / ".local/state").exists()
    assert consentry("grants").status == 2


def test_a_revoked_grant_stops_the_next_call(consentry: CommandLine) -> None:
    """MODULES §grant-4: from another process, at once; the module can ask again."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "state.read", "ui.slot.render")
        assert application.invoke("note-tools", "b-list").ok
        ended = told(
            consentry, "grants", "revoke", "--module", "note-tools", "--capability", "state.read"
        )
        assert [each["capabilityId"] for each in ended["grants"]] == ["state.read"]
        assert ended["grants"][0]["revokedBy"].startswith("local:")
        stopped = application.invoke("note-tools", "b-list", ask=False)
        assert (stopped.ok, stopped.code) == (False, "capability-not-granted")
        assert application.invoke("note-tools", "b-list").status == "waiting"
    assert len(told(consentry, "grants", "list")["grants"]) == 1
    assert consentry("grants", "revoke", "--module", "note-tools").status == 0
    again = consentry("grants", "revoke", "--module", "note-tools")
    assert (again.status, again.out) == (0, "nothing stood that could be revoked\n")


def test_what_is_to_be_revoked_has_to_be_said(consentry: CommandLine) -> None:
    """Ids or a module, not both and not neither; one that is unknown, begun too short, or of two hosts."""
    imported(consentry)
    for words in (
        (),
        ("grant-0198c2f4-7100", "--module", "note-tools"),
        ("grant-0198c2f4-7100", "--capability", "state.read"),
    ):
        assert_error(consentry("grants", "revoke", *words), Code.USAGE)
    for word in ("grant-0198c2f4-7100", "grant-01", "\u202e"):
        assert_error(consentry("grants", "revoke", word), Code.ID_UNKNOWN)
    assert_error(consentry("grants", "revoke", "--module", "nobody"), Code.MODULE_UNKNOWN)
    imported(consentry, host=other_host())
    assert_error(consentry("grants", "revoke", "--module", "note-tools"), Code.HOST_UNKNOWN)
    of_one = ("--module", "note-tools", "--host", "other-board")
    assert consentry("grants", "revoke", *of_one).status == 0


def test_an_explanation_has_the_four_conditions_and_the_events_in_order(
    consentry: CommandLine,
) -> None:
    """MODULES AC-2, §use-3: asked for, denied, asked again, approved, given, used, revoked, refused."""
    with host_at(consentry) as application:
        application.import_module(package())
        application.answer(asked(application, "state.read"), "deny", reason="not yet")
        granted(application, "state.read")
        assert application.invoke("note-tools", "b-list").ok
        usable = told(consentry, "grants", "explain", "note-tools", "state.read")
        assert (usable["kind"], usable["usable"], usable["code"]) == ("grant-explain", True, None)
        assert [each["holds"] for each in usable["conditions"]] == [True] * 4
        (grant,) = consentry("grants", "list", "--quiet").out.split()
        consentry("grants", "revoke", grant)
        application.invoke("note-tools", "b-list", ask=False)
    document = told(consentry, "grants", "explain", "note-tools", "state.read")
    assert (document["usable"], document["code"]) == (False, "capability-not-granted")
    assert [(each["condition"], each["holds"]) for each in document["conditions"]] == [
        ("requested", True),
        ("in the catalog", True),
        ("granted", False),
        ("still valid", False),
    ]
    assert [each["type"] for each in document["events"]] == [
        "capability.escalation.requested",
        "capability.escalation.denied",
        "capability.escalation.requested",
        "capability.escalation.approved",
        "grant.given",
        "module.capability.used",
        "grant.revoked",
        "capability.check.rejected",
    ]
    decided = document["events"][3]["payload"]
    assert decided["approverIdentity"].startswith("local:")
    assert (decided["grantScope"], decided["decisionReasonCode"]) == (
        "persistent",
        "user-approved-persistent",
    )
    assert document["counts"] == {"decision": 6, "rejection": 1, "use": 1}
    text = consentry("grants", "explain", "note-tools", "state.read", COLUMNS="100").out
    assert text.startswith(
        "state.read for note-tools 1.2.0 in note-board: capability-not-granted\n"
    )
    assert "; taken back by local:" in document["conditions"][2]["said"]
    assert "once used, once refused" in text
    quiet = consentry("grants", "explain", "note-tools", "state.read", "--quiet")
    assert quiet.out == "capability-not-granted\n"


def test_a_grant_or_an_event_can_be_asked_about(consentry: CommandLine) -> None:
    """By its id alone; the event is marked; one that is about no capability is refused."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "state.read")
        assert application.invoke("note-tools", "b-list").ok
        (grant,) = consentry("grants", "list", "--quiet").out.split()
        by_grant = told(consentry, "grants", "explain", grant[:24])
        assert by_grant["capabilityId"] == "state.read"
        (use,) = events(consentry, "module.capability.used")
        shown = consentry("grants", "explain", use["eventId"])
        (marked,) = [row for row in shown.out.splitlines() if row.startswith("> ")]
        assert "module.capability.used" in marked
        consentry("grants", "revoke", grant)
    (end,) = events(consentry, "grant.revoked")
    assert told(consentry, "grants", "explain", end["eventId"])["capabilityId"] == "state.read"
    (imported_event,) = events(consentry, "module.imported")
    assert_error(consentry("grants", "explain", imported_event["eventId"]), Code.USAGE)
    assert_error(consentry("grants", "explain", "note-tools"), Code.USAGE)


def test_many_uses_are_counted_and_the_last_are_told(consentry: CommandLine) -> None:
    """However many there are; an event that was asked about is told all the same."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "state.read")
        for _ in range(12):
            assert application.invoke("note-tools", "b-list").ok
        document = told(consentry, "grants", "explain", "note-tools", "state.read", "--last", "3")
        assert document["counts"]["use"] == 12
        uses = [each for each in document["events"] if each["type"] == "module.capability.used"]
        every = events(consentry, "module.capability.used")
        assert [each["eventId"] for each in uses] == [each["eventId"] for each in every[-3:]]
        oldest = every[0]["eventId"]
        told_of = told(consentry, "grants", "explain", oldest, "--last", "3")["events"]
        assert oldest in [each["eventId"] for each in told_of]
        text = consentry("grants", "explain", "note-tools", "state.read", "--last", "3").out
        assert "9 earlier ones are left out" in text
        assert "12 times used" in text


def test_what_was_refused_at_import_is_explained(consentry: CommandLine) -> None:
    """No module is registered, and the rejection is on record under its id."""
    with host_at(consentry) as application:
        answer = application.import_module(package(capabilitiesRequested=["state.*"]))
        assert answer["code"] == "capability-unknown-id"
    document = told(consentry, "grants", "explain", "note-tools", "state.*")
    assert (document["code"], document["moduleVersion"]) == ("module-unknown", None)
    assert [each["type"] for each in document["events"]] == ["capability.check.rejected"]
    assert "capability-unknown-id" in consentry("grants", "explain", "note-tools", "state.*").out


def test_a_session_grant_is_told_with_its_session(consentry: CommandLine) -> None:
    """MODULES §decision-1: usable in that session alone while it goes on, and stale after it."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "state.read", decision="approve_session")
        document = told(consentry, "grants", "explain", "note-tools", "state.read")
        assert (document["usable"], document["onlyInSessions"]) == (True, [application.session_id])
        assert f"in {application.session_id} alone" in (
            consentry("grants", "explain", "note-tools", "state.read").out
        )
    after = told(consentry, "grants", "explain", "note-tools", "state.read")
    assert (after["code"], after["onlyInSessions"]) == ("capability-grant-stale", [])
    assert after["conditions"][3]["said"].endswith("is over")


def test_a_new_version_makes_a_kept_grant_stale(consentry: CommandLine) -> None:
    """MODULES §decision-2, §grant-2: void for good, and the words say since when and why."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "state.read")
        application.import_module(package(moduleVersion="1.3.0"))
    document = told(consentry, "grants", "explain", "note-tools", "state.read")
    assert document["code"] == "capability-grant-stale"
    granted_said, valid_said = (each["said"] for each in document["conditions"][2:])
    assert "for 1.2.0 sha256:" in granted_said
    assert "other content of the module came" in valid_said


def test_several_hosts_have_to_be_told_apart(consentry: CommandLine) -> None:
    """Grants and uses by their host; what the events of a decision do not say is said to be unsaid."""
    with host_at(consentry) as first, host_at(consentry, other_host()) as second:
        for application in (first, second):
            application.import_module(package())
        granted(first, "state.read")
        assert first.invoke("note-tools", "b-list").ok
        words = ("grants", "explain", "note-tools", "state.read")
        assert_error(consentry(*words), Code.HOST_UNKNOWN)
        assert told(consentry, *words, "--host", "note-board")["usable"] is True
        other = told(consentry, *words, "--host", "other-board")
        assert (other["usable"], other["counts"]["use"]) == (False, 0)
        assert "grant.given" not in [each["type"] for each in other["events"]]
        assert "do not name the host" in consentry(*words, "--host", "other-board").out


def test_hostile_names_act_nowhere(consentry: CommandLine) -> None:
    """A module's own words in lists and explanations, and what somebody types."""
    document = named(HOSTILE)
    document["commandBindings"][0]["bindingId"] = HOSTILE
    with host_at(consentry) as application:
        application.import_module(document)
        granted(application, "state.read")
        (action,) = [
            each.id
            for each in application.graph("note-tools").actions
            if each.calls == ("notes.list",)
        ]
        assert application.invoke("note-tools", action).ok
    for words in (
        ("list", "--all"),
        ("explain", "note-tools", "state.read"),
        ("explain", "note-tools", HOSTILE),
        ("explain", HOSTILE, "state.read"),
        ("revoke", "--module", HOSTILE),
    ):
        done = consentry("grants", *words)
        assert harmless(done.out), words
        assert harmless(done.err), words
