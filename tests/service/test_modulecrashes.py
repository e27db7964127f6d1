"""Imported modules when processes end in the middle, act at once, or find the disk full.

The processes are real and are killed; what is left is looked at from outside.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import SystemClock
from consentry.store.database import Database
from consentry.store.history import History
from consentry.store.migrations import migrate
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from consentry.store.steps import Step
from tests.decide.samples import OWNER
from tests.record.samples import WRITER
from tests.service.moduleboard import CONTENTS
from tests.service.modulecrash import MODULE, NEW, OLD
from tests.service.moduleprograms import Program
from tests.service.modulewitness import Witness
from tests.store.conftest import Store
from tests.store.sizes import IS_FULL, sampled
from tests.store.systemcalls import calls_of, failing_at, require_tracing

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "tests.service.modulecrash")
WRITES: dict[str, list[list[str]]] = {
    "import": [
        ["grant.revoked", "grant.revoked", "module.imported"],
        ["approval.superseded", "capability.escalation.denied"],
    ],
    "answer": [
        [
            "approval.answered",
            "capability.escalation.approved",
            "capability.escalation.approved",
            "grant.given",
            "grant.given",
        ]
    ],
    "use": [
        ["module.capability.used", "module.capability.used"],
        ["module.capability.used"],
        ["module.action.ended"],
    ],
}
"""What each of them writes, append by append."""


def begun(*words: object) -> "subprocess.Popen[str]":
    """A process of its own."""
    argv = [*PROGRAM, *map(str, words)]
    return subprocess.Popen(
        argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def said(process: "subprocess.Popen[str]") -> list[list[str]]:
    """What it said until its end, line by line."""
    with process:
        out, err = process.communicate(timeout=50)
    assert process.returncode in {0, -9}, err
    return [line.split() for line in out.splitlines()]


@contextmanager
def board(database: Database) -> Iterator[tuple[Program, Witness]]:
    """A program here, with the module in its first version, two grants for good and a question."""
    with closing(database):
        host = Program(database, WRITER, SystemClock(), "1.0.0")
        witness = Witness(database)
        host.import_good(MODULE, OLD, CONTENTS[0])
        act(host, "swap", "approve_persistent")
        act(host, "save")
        witness.look()
        yield host, witness


def act(host: Program, action: str, decision: str | None = None) -> tuple[Any, ...]:
    """Calls an action."""
    return host.act(MODULE, action, "interactive", decision, OWNER, 1)


def grants_of(witness: Witness) -> list[str]:
    """Those that stand."""
    return [key for key, grant in witness.grants.items() if grant["revokedBy"] is None]


def followed(database: Database) -> Witness:
    """What all of it comes to, when every event is followed from the first and the tables are read."""
    witness = Witness(database)
    witness.look()
    witness.require_whole()
    return witness


def points(way: str) -> list[tuple[int, Step]]:
    """Every step of every append, or some of them."""
    return sampled([(append, step) for append in range(len(WRITES[way])) for step in Step], 6)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("way", WRITES)
def test_a_process_killed_at_any_step_leaves_all_or_nothing(store: Store, way: str) -> None:
    """MODULES §stage-import, §flow-5, §order-3: what an import, an answer and a use write, whole or not.

    What the ledger says and what the tables hold stay the same; the same can be done again afterwards.
    """
    for append, step in points(way):
        with board(store.open()) as (host, witness):
            rest = []
            if way == "answer":
                for grant in grants_of(witness):
                    host.revoke(grant)
                act(host, "swap")
                witness.look()
                rest = [list(witness.questions)[-1]]
            before = witness.counts.copy()
            lines = said(begun(way, store.url_or_path, append, step.name, *rest))
            witness.look()
            witness.require_whole()
            done = append + (step.value >= Step.COMMITTED.value)
            written = [kind for each in WRITES[way][:done] for kind in each]
            new = witness.counts - before
            del new["session.started"]
            assert sorted(new.elements()) == sorted(written), (append, step)
            # No command of the host has begun before its use is on record.
            assert bool(lines) == (way == "use" and append > 0)
            _again(host, way, rest)
            followed(store.open())
            host.drop(MODULE)


def _again(host: Program, way: str, rest: list[str]) -> None:
    match way:
        case "import":
            host.import_good(MODULE, NEW, CONTENTS[0])
            assert act(host, "look")[0] == "waiting"
        case "answer":
            told = host.do(lambda self: self.decide(rest[0], "approve_persistent", OWNER))
            assert told in [("answered", "approved"), ("raised", "request-settled")]
            assert act(host, "swap")[0] == "done"
        case "use":
            assert act(host, "swap")[0] == "done"


def test_no_use_comes_behind_a_revocation(store: Store) -> None:
    """MODULES §grant-4, §use-4: one process uses in a loop, another revokes in the middle of it."""
    with board(store.open()) as (host, witness):
        for _ in range(20 if IS_FULL else 3):
            with begun("loop", store.url_or_path) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
                for _ in range(3):
                    assert process.stdout.readline().startswith("ran ")
                [grant] = [
                    each
                    for each in grants_of(witness)
                    if witness.grants[each]["capabilityId"] == "state.read"
                ]
                host.revoke(grant)
                lines = process.communicate(timeout=50)[0].splitlines()
            assert lines[-1] == "ended None None" or lines[-1].startswith("ended capability-")
            kinds = witness.counts.copy()
            witness.look()  # asserts for each use that its grant stood
            assert (witness.counts - kinds)["module.capability.used"] >= 3
            assert act(host, "look", "approve_persistent")[0] == "done"
            witness.look()
        followed(store.open())


@pytest.mark.timeout(300)
def test_processes_that_change_a_module_at_once_leave_one_truth(store: Store) -> None:
    """MODULES §grant-2, §grant-4, §use-4: whoever imports, approves, revokes, uses and removes meanwhile.

    One content is registered at the end, and only its grants stand.
    """
    with board(store.open()) as (host, witness):
        times = 400 if IS_FULL else 40
        running = [begun("churn", store.url_or_path, seed, times) for seed in (1, 2, 3)]
        for lines in [said(each) for each in running]:
            assert (lines[0], lines[-1]) == (["ready"], ["over"])
            assert [line for line in lines if line[0] not in ("ready", "ran", "over")] == []
        witness.look()
        witness.require_whole()
        assert witness.counts["module.imported"] > 5
        assert witness.counts["module.capability.used"] > 10
        host.import_good(MODULE, NEW, CONTENTS[1])
        witness.look()
        standing = [witness.grants[each]["moduleVersion"] for each in grants_of(witness)]
        assert set(standing) <= {NEW}


@pytest.mark.timeout(300)
def test_machines_that_change_a_module_at_once_leave_one_truth(postgres_url: str) -> None:
    """MODULES §grant-2: each machine writes a chain of its own, and none waits for the others for ever.

    Chains have no order among each other, so it is the tables that are looked at.
    """
    database = PostgresDatabase(postgres_url)
    migrate(database)
    with board(database) as (host, _):
        times = 400 if IS_FULL else 40
        running = [
            begun("churn", postgres_url, seed, times, f"machine-{str(seed) * 32}")
            for seed in (1, 2, 3)
        ]
        for lines in [said(each) for each in running]:
            assert [line for line in lines if line[0] not in ("ready", "ran", "over")] == []
        assert isinstance(History(database).verify(), list)
        host.do(lambda self: self.drop(MODULE))
        host.import_good(MODULE, NEW, CONTENTS[0])
        assert act(host, "swap", "approve_persistent")[0] in ("done", "rejected")
        across = (
            "SELECT count(*) FROM capability_grant LEFT JOIN module ON "
            "module.module_id = capability_grant.module_id AND "
            "module.package_digest = capability_grant.package_digest "
            "WHERE revoked_at IS NULL AND module.module_id IS NULL"
        )
        with database.reading() as view:
            assert list(view.rows(across)) == [(0,)]


def test_two_versions_imported_at_once_are_one_module(store: Store) -> None:
    """MODULES §grant-2: one of them is registered; what was granted to the one before is void."""
    with board(store.open()) as (host, witness):
        before = grants_of(witness)
        never = (99, Step.QUEUED.name)
        running = [
            begun("import", store.url_or_path, *never),
            begun("import", store.url_or_path, *never, "other"),
        ]
        assert [said(each) for each in running] == [[], []]
        witness.look()
        witness.require_whole()
        assert witness.counts["module.imported"] == 3
        assert set(before).isdisjoint(grants_of(witness))
        assert act(host, "keep")[0] == "waiting"


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_nothing_runs_where_the_use_cannot_be_recorded(tmp_path: Path, error: str) -> None:
    """MODULES §base-1: a disk that is full, or fails: the host's command is not called.

    Whatever ran has its use on record, and what was told as done is there.
    """
    require_tracing()
    folder = tmp_path / "store"
    folder.mkdir()
    database = SqliteDatabase(folder / "store.db")
    migrate(database)
    with board(database) as (host, _):
        host.set_mode("normal")

    def trying(place: Path) -> list[str]:
        return [*PROGRAM, "try", str(place / "store.db"), "3"]

    counted = shutil.copytree(folder, tmp_path / "counted")
    calls = calls_of(trying(counted), ("pwrite64", "fdatasync"), cwd=ROOT)
    failures = 0
    for number, call in enumerate(sampled(calls, 8)):
        place = shutil.copytree(folder, tmp_path / f"failing-{number}")
        ended = failing_at(call, error, trying(place), lasting=True, cwd=ROOT)
        lines = [line.split() for line in ended.out.splitlines()]
        assert (ended.status, ended.err) == (0, "")
        failed = [line for line in lines if line[0] == "failed"]
        assert {line[1] for line in failed} <= {"ledger-unwritable"}
        failures += len(failed)
        with closing(SqliteDatabase(place / "store.db")) as left:
            recorded = followed(left).runs
            assert {line[1] for line in lines if line[0] == "ran"} <= recorded
    assert failures > 0
