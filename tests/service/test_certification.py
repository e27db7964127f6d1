"""The certification corpus, tried on a real store: answers, events, and that nothing stays (CONTRACTS §4)."""

import json
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from consentry.base.values import replace
from consentry.declare.certification import CaseKind, certification_corpus
from consentry.record.events import EventType
from consentry.service.certification import (
    REPEATS,
    UNSOUND,
    CaseAnswer,
    CheckedCase,
    cases_named,
    certify,
)
from consentry.store.database import Database
from consentry.store.history import History
from consentry.store.migrations import migrate
from consentry.store.modules import StoredModules
from tests.service.certifying import certified, journal_of
from tests.service.modulehosting import Board
from tests.store.conftest import Store
from tests.store.sizes import sampled

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).parents[2]
CORPUS = certification_corpus()
RUN = "drill-of-a-test"
LEFT = ("module", "module_host", "capability_grant", "module_storage", "module_block")
"""Everything that an import could leave behind, besides events."""


def opened(store: Store) -> Database:
    """The store, ready for use."""
    database = store.open()
    migrate(database)
    return database


def events(database: Database, *types: EventType) -> list[dict[str, Any]]:
    """What is on record, of these types where some are named."""
    found = [json.loads(row.body) for row in History(database).events()]
    return [each for each in found if not types or each["type"] in types]


def left(database: Database) -> dict[str, list[Any]]:
    """What is registered there."""
    with database.reading() as view:
        return {each: list(view.rows(f"SELECT * FROM {each}")) for each in LEFT}  # noqa: S608 - no value in it


def test_every_case_is_answered_as_expected_and_on_record(store: Store) -> None:
    """CONTRACTS §4-h-kpi-1, §4-h-kpi-2, §4-h-kpi-3: each case has one event with all of its answers, on either store."""
    with closing(opened(store)) as database:
        checked = certified(database)
        assert [each.case for each in checked] == list(CORPUS.cases)
        assert [each.case.case_id for each in checked if not each.is_as_expected] == []
        payloads = [each["payload"] for each in events(database, EventType.CERTIFICATION_CHECKED)]
    assert [each["caseId"] for each in payloads] == [each.case_id for each in CORPUS.cases]
    for case, payload in zip(CORPUS.cases, payloads, strict=True):
        tries = REPEATS if case.kind is CaseKind.INVALID else 1
        assert payload["answers"] == [{"code": case.code, "path": case.path}] * tries
        assert (payload["caseKind"], payload["corpusVersion"]) == (case.kind.value, CORPUS.version)
        assert payload["subjectDigest"] == case.subject_digest
        assert (payload["controlFields"] is None) == (case.kind is not CaseKind.ACTION)


def test_every_event_of_a_case_says_that_it_is_a_fixture(store: Store) -> None:
    """CONTRACTS §4-tags: run, case, expected outcome and drill, on what the import itself writes as well."""
    with closing(opened(store)) as database:
        certified(database)
        found = events(database)
    expected = {each.case_id: each.code for each in CORPUS.cases} | {"corpus-host": "removed"}
    for each in found:
        assert each["evidenceChannel"] == "controlled_fixture"
        assert each["fixtureRunId"] == each["drillId"] == found[0]["drillId"]
        assert each["expectedOutcome"] == expected[each["fixtureCaseId"]]
    kinds = Counter(each["type"] for each in found)
    assert (
        kinds["module.imported"] == kinds["module.removed"] == len(CORPUS.of_kind(CaseKind.VALID))
    )
    packages = [each for each in CORPUS.of_kind(CaseKind.INVALID) if each.graph is None]
    assert kinds["module.import.rejected"] == REPEATS * len(packages)


def test_nothing_of_it_stays_registered(store: Store) -> None:
    """What was imported on the way is removed again."""
    with closing(opened(store)) as database:
        before = left(database)
        certified(database)
        assert left(database) == before


def test_nothing_stays_where_it_fails_in_the_middle(store: Store) -> None:
    """Whoever hears of the cases raises; the error is told, and nothing is left."""

    def gone(_: CheckedCase) -> None:
        raise BrokenPipeError

    with closing(opened(store)) as database:
        before = left(database)
        with pytest.raises(BrokenPipeError):
            certify(journal_of(database), RUN, tell=gone)
        assert left(database) == before
        assert len(events(database, EventType.CERTIFICATION_CHECKED)) == 1


def test_a_killed_run_leaves_what_it_tried_and_the_next_removes_it(store: Store) -> None:
    """Killed when an import, a removal or a record is durable; the next run begins by removing."""
    for append in sampled([1, 4, 7, 0, 2, 3], 2):
        with closing(opened(store)) as database:
            words = [sys.executable, "-m", "tests.service.certifying"]
            killed = subprocess.run([*words, store.url_or_path, str(append)], cwd=ROOT, check=False)
            assert killed.returncode == -9
            registered = StoredModules(journal_of(database)).all()
            assert len(registered) == (append % 3 == 1)
            certify(journal_of(database), RUN, cases=[])
            assert StoredModules(journal_of(database)).all() == []


def test_modules_of_other_hosts_are_not_touched(board: Board) -> None:
    """A module of the same id in another host stays, with its grants and what it kept."""
    name = CORPUS.of_kind(CaseKind.VALID)[0]
    document = json.loads(name.content)
    assert board.take(document)["ok"]
    before = board.host.modules()
    journal = board.journal()
    try:
        certify(journal, RUN)
    finally:
        journal.ledger.close()
    assert board.host.modules() == before


def test_what_is_answered_otherwise_is_told_and_recorded_as_it_is(store: Store) -> None:
    """No verdict is made up: the answers stand in the record beside what was expected."""
    [least, twice, action] = cases_named(["least", "empty", "graph-defaults#1"])
    wrong = [
        replace(least, code="module-gone"),
        replace(twice, path="package.moduleId"),
        replace(twice, package=least.package),
        replace(action, graph=(action.graph or b"").replace(b'"notes.list"', b'"notes.gone"')),
        replace(action, action=7),
        replace(action, package=b"{}"),
        replace(action, graph=b"[]"),
    ]
    with closing(opened(store)) as database:
        checked = certify(journal_of(database), RUN, cases=wrong)
        assert left(database)["module"] == []
        payloads = [each["payload"] for each in events(database, EventType.CERTIFICATION_CHECKED)]
    assert not any(each.is_as_expected for each in checked)
    assert [each.answers[0] for each in checked] == [
        CaseAnswer("imported"),
        CaseAnswer("invalid-package-root", "package"),
        CaseAnswer("imported"),
        CaseAnswer(UNSOUND, "actions[0].calls"),
        CaseAnswer(UNSOUND, "actions[7]"),
        CaseAnswer("invalid-package-abi-version", "package.packageAbiVersion"),
        CaseAnswer("document-invalid", None),
    ]
    assert [each["answers"][0]["code"] for each in payloads] == [
        each.answers[0].code for each in checked
    ]
    assert payloads[3]["controlFields"] == {
        "calls": False,
        "mutates": True,
        "requiresApproval": True,
        "undoCommand": True,
        "surface": True,
    }
    assert set(payloads[4]["controlFields"].values()) == {False}
