"""What was decided about a tool at certain bytes starts those bytes or nothing."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.ids import Uuid7Ids
from consentry.decide.tooldigest import tool_digest
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.sealing import seal
from consentry.record.auditfields import ConsentMethod
from consentry.service.audit import whole_event
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.rundecision import RunDecision, ToolFacts
from consentry.service.runs import Runner
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from tests.service.conftest import MakeAround

MANIFEST = read_tool_manifest(
    b'{"tool": {"name": "told", "description": "A tool of the tests", "version": "1.0.0", '
    b'"capabilities": {}, "riskLevel": "low"}}',
    "told.json",
)


@pytest.fixture
def here(around: MakeAround) -> Surroundings:
    """With programs to be found."""
    return around(environ={"PATH": "/usr/bin:/bin"})


@pytest.fixture
def journal(here: Surroundings) -> Iterator[Journal]:
    """The ledger, opened for writing."""
    clock = SystemClock()
    journal = journal_here(here, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield journal


@pytest.fixture
def tool(project: Path) -> Path:
    """A program of the workspace, which is run from a copy."""
    path = project / "tool"
    path.write_text("#!/bin/sh\necho decided\n")
    path.chmod(0o755)
    return path


def _decided(tool: Path) -> RunDecision:
    """About the tool as it is now."""
    with closing(seal(tool)) as sealed:
        digest = tool_digest(MANIFEST.digest, [[sealed.digest]])
    facts = ToolFacts(MANIFEST, digest, ((str(tool),),))
    return RunDecision(subject=facts.subject, method=ConsentMethod.COMMAND_LINE, tool=facts)


def _run(tool: Path, decision: RunDecision, here: Surroundings, journal: Journal) -> bytes:
    bound = bind_wish(RunWish((str(tool),)), tool.parent, here)
    with closing(NativeEngine(None, bound.protected)) as engine:
        plan = engine.compile(bound.confinement)
        runner = Runner(engine, journal, ledger_place(here).folder, None)
        return runner.run(bound, plan, Io(keeps=True), decision=decision).outcome.stdout


def _events(here: Surroundings) -> list[dict[str, Any]]:
    history = ledger_for_reading(here)
    assert history is not None
    with closing(history.database):
        return [dict(whole_event(row)) for row in history.events()]


def test_the_bytes_that_were_decided_about_run(
    tool: Path, here: Surroundings, journal: Journal
) -> None:
    """Nothing changed between the decision and the run."""
    assert _run(tool, _decided(tool), here, journal) == b"decided\n"


def test_other_bytes_get_no_permit(tool: Path, here: Surroundings, journal: Journal) -> None:
    """They were changed in between: the box that waited is gone, and the record says why."""
    decision = _decided(tool)
    tool.write_text("#!/bin/sh\necho changed\n")
    with pytest.raises(Refused) as refused:
        _run(tool, decision, here, journal)
    assert refused.value.code is Code.CONSENT_STALE
    events = _events(here)
    assert not {"run.decided", "permit.made"} & {each["type"] for each in events}
    assert events[-1]["payload"]["execution"]["problem"]["code"] == "consent-stale"


def test_without_the_digest_of_the_decision_they_would_run(
    tool: Path, here: Surroundings, journal: Journal
) -> None:
    """A decision that names no bytes lets whatever is there run."""
    decision = RunDecision(subject="tool:told", method=ConsentMethod.COMMAND_LINE)
    tool.write_text("#!/bin/sh\necho changed\n")
    assert _run(tool, decision, here, journal) == b"changed\n"
