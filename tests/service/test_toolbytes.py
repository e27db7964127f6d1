"""What was decided about a tool is about bytes: those run, or nothing does (CONTRACTS §8)."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.consent import ConsentTerms
from consentry.decide.identity import Identity
from consentry.decide.lasting import Lasts
from consentry.decide.machine import MachineScope
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from consentry.record.events import EventType
from consentry.record.payload import check_payload
from consentry.service.rundecision import RunDecision
from consentry.service.toolbinding import BoundTool
from consentry.store.consents import StoredConsents
from consentry.store.journal import Journal
from tests.service.conftest import MakeAround
from tests.service.toolplaces import PATH, Decide, OwnPlace

SCRIPT = "#!/bin/sh\nwhile ! test -e go; do :; done\necho first\n"
EVERYTHING = [{"pattern": "./", "purpose": "all of it"}]
PERSON = Identity("local:1000:me@here")


@pytest.fixture
def own(around: MakeAround, project: Path) -> OwnPlace:
    """A tool that is a script of the workspace's, started as a program and given to a shell."""
    place = OwnPlace(around(environ=PATH), project)
    script = project / "tool"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    (project / "go").touch()
    program = {"command": "./tool", "arguments": [], "purpose": "p"}
    place.tool("make", fileRead=EVERYTHING, processExecution=[program])
    return place


def consents_of(journal: Journal) -> StoredConsents:
    """The consents of the place."""
    return StoredConsents(journal.ledger, journal.ids, journal.clock, journal.context)


def consented(lasts: Lasts, kept: list[str] | None = None) -> Decide:
    """A person's yes in the store, or the one that was given before."""

    def decide(bound: BoundTool, journal: Journal) -> RunDecision:
        if not kept:
            terms = ConsentTerms(
                tool=bound.facts.name,
                version="1.0.0",
                digest=bound.digest,
                surface=bound.surface,
                lasts=lasts,
                machine_scope=MachineScope(journal.machine_id),
                method=ConsentMethod.EXPLICIT_APPROVAL,
                given_by=PERSON,
                arguments=bound.arguments if lasts is Lasts.ONCE else None,
            )
            given = consents_of(journal).give(terms)
            if kept is not None:
                kept.append(given.consent_id)
        else:
            found = consents_of(journal).find(kept[0])
            assert found is not None
            given = found
        return RunDecision(
            subject=bound.facts.subject,
            method=ConsentMethod.EXPLICIT_APPROVAL,
            consented_at=given.given_at,
            given_by=PERSON,
            consent_id=given.consent_id,
            level=ConsentLevel.EXPLICIT,
            reason="it is needed",
            tool=bound.facts,
        )

    return decide


def test_the_entry_is_the_one_of_the_seed(own: OwnPlace) -> None:
    """Tool, consent, execution, impact, sandbox and context, with what is known of the consent."""
    entry = own.run("make", decide=consented(Lasts.ONCE)).entry
    check_payload(EventType.TOOL_AUDIT, entry)
    tool, user = entry["tool"], entry["user"]
    assert isinstance(tool, dict)
    assert isinstance(user, dict)
    assert (tool["name"], tool["version"]) == ("make", "1.0.0")
    assert tool["digest"] == own.bind("make").digest
    assert (user["consentGiven"], user["consentMethod"]) == (True, "explicit_approval")
    assert (user["consentGivenBy"], user["reason"], user["level"]) == (
        PERSON,
        "it is needed",
        "explicit",
    )
    order = [each["type"] for each in own.events()][-6:]
    assert order == [
        *("consent.given", "run.decided", "consent.used", "permit.made", "permit.spent"),
        "tool.audit",
    ]
    decided = own.events()[-5]
    assert decided["subject"] == "tool:make"
    assert decided["payload"]["consent"]["toolDigest"] == tool["digest"]
    given = own.events()[-6]["payload"]
    assert user["consentTimestamp"] == given["givenAt"]


@pytest.mark.parametrize("changed", ["the program", "the manifest's program is another"])
def test_a_file_that_changes_between_consent_and_run_does_not_run(
    own: OwnPlace, changed: str
) -> None:
    """Nothing starts, no permit is made, the consent for once is still there, and it is on record."""
    script = own.project / "tool"

    def change() -> None:
        if changed == "the program":
            script.write_text("#!/bin/sh\necho second\n")
        else:
            script.unlink()
            script.write_text("#!/usr/bin/env python3\nprint('second')\n")
            script.chmod(0o755)

    own.meanwhile = change
    kept: list[str] = []
    with pytest.raises(ConsentryError) as raised:
        own.run("make", decide=consented(Lasts.ONCE, kept))
    assert raised.value.code is Code.CONSENT_STALE
    types = [each["type"] for each in own.events()]
    assert not {"permit.made", "run.decided", "consent.used"} & set(types)
    entry = own.entries()[-1]
    assert entry["execution"]["status"] == "denied"
    assert entry["execution"]["problem"]["code"] == "consent-stale"
    assert (entry["user"]["consentGiven"], entry["user"]["consentTimestamp"]) == (False, None)
    assert entry["tool"]["name"] == "make"
    own.meanwhile = lambda: None
    assert own.run("make").outcome.stdout == b"second\n"


def test_the_bytes_that_were_decided_are_run(own: OwnPlace) -> None:
    """A script that is rewritten while it runs is what it was when it was hashed."""
    (own.project / "go").unlink()

    def rewrite() -> None:
        while "permit.spent" not in [each["type"] for each in own.events()]:
            time.sleep(0.01)
        (own.project / "tool").write_text("#!/bin/sh\necho second\n")
        (own.project / "go").touch()

    with ThreadPoolExecutor() as pool:
        done = pool.submit(rewrite)
        run = own.run("make")
        done.result()
    assert run.outcome.stdout == b"first\n"


def test_a_consent_for_once_gives_one_run(own: OwnPlace) -> None:
    """The second run under it is refused, with an entry of its own."""
    kept: list[str] = []
    decide = consented(Lasts.ONCE, kept)
    assert own.run("make", decide=decide).outcome.stdout == b"first\n"
    with pytest.raises(ConsentryError) as raised:
        own.run("make", decide=decide)
    assert raised.value.code is Code.CONSENT_CLOSED
    assert [each["execution"]["status"] for each in own.entries()] == ["success", "denied"]
    assert own.entries()[-1]["user"]["consentGiven"] is False


def test_a_remembered_consent_gives_many_until_it_is_revoked(own: OwnPlace) -> None:
    """Also if it is revoked in the moment between looking and starting."""
    kept: list[str] = []
    decide = consented(Lasts.PERMANENT, kept)
    assert own.run("make", decide=decide).outcome.stdout == b"first\n"
    assert own.run("make", decide=decide).outcome.stdout == b"first\n"

    def revoke() -> None:
        with own.journal() as journal:
            consents_of(journal).revoke(kept[0], PERSON)

    own.meanwhile = revoke
    with pytest.raises(ConsentryError) as raised:
        own.run("make", decide=decide)
    assert raised.value.code is Code.CONSENT_CLOSED
    statuses = [each["execution"]["status"] for each in own.entries()]
    assert statuses == ["success", "success", "denied"]


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_program_that_disappears_is_one_clear_error_and_an_entry(
    own: OwnPlace, when: str
) -> None:
    """Before the tool is bound, with the line of the manifest; or after the yes, which is told."""
    script = own.project / "tool"
    if when == "before":
        script.unlink()
    own.meanwhile = script.unlink if when == "meanwhile" else own.meanwhile
    with pytest.raises(ConsentryError, match="tool") as raised:
        own.run("make", decide=consented(Lasts.ONCE))
    entry = own.entries()[-1]
    assert entry["tool"]["name"] == "make"
    assert entry["execution"]["problem"]["code"] == raised.value.code.value
    if when == "before":
        assert raised.value.code is Code.PROGRAM_UNKNOWN
        assert raised.value.where is not None
        assert raised.value.where.file is not None
        assert raised.value.where.file.endswith("make.yaml")
        assert entry["execution"]["status"] == "not_started"
        assert entry["user"]["consentGiven"] is False
    else:
        assert raised.value.code is Code.PROGRAM_UNSTARTABLE
        assert entry["user"]["consentGiven"] is True
    assert len(own.entries()) == 1


def test_the_digest_follows_bytes_and_values_and_not_places(
    own: OwnPlace, around: MakeAround, tmp_path: Path
) -> None:
    """The manifest's values, the program, its interpreter and its script; not where they lie."""
    first = own.bind("make")
    assert own.bind("make").digest == first.digest
    (own.project / "go").unlink()
    assert own.bind("make").digest == first.digest
    (own.project / "tool").write_text(SCRIPT + "\n")
    assert own.bind("make").digest != first.digest
    (own.project / "tool").write_text(SCRIPT)
    program = {"command": "./tool", "arguments": ["x"], "purpose": "p"}
    own.tool("make", fileRead=EVERYTHING, processExecution=[program])
    assert own.bind("make").digest != first.digest
    program = {"command": "./tool", "arguments": [], "purpose": "p"}
    own.tool("make", fileRead=EVERYTHING, processExecution=[program])
    elsewhere = tmp_path / "work/elsewhere"
    (own.project).rename(elsewhere)
    there = OwnPlace(around(elsewhere, environ=PATH), elsewhere)
    assert there.bind("make").digest == first.digest
    assert any(path.endswith("/tool") for path in first.files)


@pytest.mark.parametrize(
    "commands",
    [
        [{"command": "sh", "arguments": ["part"], "purpose": "p"}],
        [
            {"command": "true", "arguments": [], "purpose": "p"},
            {"command": "sh", "arguments": ["part"], "purpose": "p"},
        ],
    ],
)
def test_a_script_that_is_given_to_an_interpreter_is_covered(
    own: OwnPlace, commands: list[dict[str, Any]]
) -> None:
    """Of whichever command; also where an entry point may start it."""
    part = own.project / "part"
    part.write_text("echo one\n")
    entry = {"command": "./tool"}
    for keys in ({}, {"entrypoint": entry}):
        own.tool("parts", fileRead=EVERYTHING, processExecution=commands, **keys)
        part.write_text("echo one\n")
        before = own.bind("parts").digest
        own.meanwhile = rewriting(part)
        with pytest.raises(ConsentryError) as raised:
            own.run("parts")
        assert raised.value.code is Code.CONSENT_STALE
        assert own.bind("parts").digest != before


def rewriting(file: Path) -> Callable[[], None]:
    """Changes what is in the file."""
    return lambda: file.write_text("echo two\n") and None
