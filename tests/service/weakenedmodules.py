"""A host of modules from which a check was taken away, to show what it stops.

Only tests can import this: no switch of the product does any of it.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from consentry.decide.capabilitycheck import PASSED, CheckResult, Rejection
from consentry.decide.documentstore import Commit, CommitKind, DocumentStore
from consentry.decide.statechange import read_operations, worked_out
from consentry.decide.txpreview import revision_after
from consentry.declare.statepaths import PathSet
from consentry.enforce import broker
from consentry.enforce.broker import CapabilityRejected, ModuleCall
from consentry.service import actionchange, modulegate, modulepowers
from consentry.service.moduleactions import ActionRunner
from consentry.service.modulegate import ModuleGate
from consentry.service.transactionwatch import ModuleWatch
from consentry.store.ledger import Change
from consentry.store.modulechecks import ModuleChecks, Recording
from consentry.store.modulestorage import StoredModuleStorage


def _allowed(_standing: object, needed: tuple[str, ...], *_: object, **__: object) -> CheckResult:
    return CheckResult(PASSED, needed)


def _only_changed(
    checks: ModuleChecks,
    _standing: object,
    _run: object,
    _uses: object,
    change: Change | None = None,
) -> None:
    if change is not None:
        with checks._journal.database.writing() as transaction:
            change(transaction)


def _nothing_used(*_: object) -> Recording:
    return Recording((), lambda _: None)


@contextmanager
def without_grants() -> Iterator[None]:
    """Every check passes, and no use needs a grant to be recorded under."""
    with ExitStack() as taken:
        taken.enter_context(patch.object(modulegate, "check", _allowed))
        taken.enter_context(patch.object(ModuleChecks, "record_uses", _only_changed))
        taken.enter_context(patch.object(ModuleChecks, "using", _nothing_used))
        yield


@contextmanager
def without_asking_again() -> Iterator[None]:
    """What was allowed when an action began is allowed until it ends."""
    with patch.object(ModuleGate, "require", lambda _gate, _run, _capability_id: None):
        yield


@contextmanager
def without_declarations() -> Iterator[None]:
    """A handler may use whatever its module was granted."""

    def require(call: ModuleCall, capability_id: str) -> None:
        call._gate.require(call.run, capability_id)

    with patch.object(ModuleCall, "require", require):
        yield


@contextmanager
def without_noticing() -> Iterator[None]:
    """A refusal that a handler swallows is forgotten."""

    @contextmanager
    def noting(_call: ModuleCall) -> Iterator[None]:
        yield

    def refuse(_call: ModuleCall, capability_id: str, why: str) -> None:
        raise broker.violation(capability_id, why)

    with ExitStack() as taken:
        taken.enter_context(patch.object(ModuleCall, "noting", noting))
        taken.enter_context(patch.object(ModuleCall, "_refuse", refuse))
        yield


@contextmanager
def without_ends() -> Iterator[None]:
    """A call that a handler keeps goes on being one."""
    with patch.object(ModuleCall, "end", lambda _call: None):
        yield


@contextmanager
def without_snapshots() -> Iterator[None]:
    """A handler gets the state itself."""
    with patch.object(broker, "frozen", lambda value: value):
        yield


@contextmanager
def without_namespaces() -> Iterator[None]:
    """All modules keep their values in one place."""

    def shared(*parts: Any) -> StoredModuleStorage:
        return StoredModuleStorage(*parts[:3], "shared-by-all")

    with patch.object(modulepowers, "StoredModuleStorage", shared):
        yield


@contextmanager
def without_rules_of_the_moment() -> Iterator[None]:
    """Neither surface nor target is looked at before the commands are called."""

    def unbroken(*_: object) -> Rejection | None:
        return None

    with patch.object(ActionRunner, "_broken_rule", unbroken):
        yield


@contextmanager
def without_command_rules() -> Iterator[None]:
    """Neither the role nor the approval that a command asks for is looked at."""

    def nothing(*_: object) -> None:
        return None

    with ExitStack() as taken:
        taken.enter_context(patch.object(ActionRunner, "_role_refused", nothing))
        taken.enter_context(patch.object(ActionRunner, "_approved", nothing))
        taken.enter_context(patch.object(actionchange, "approval_of", nothing))
        yield


@contextmanager
def without_paths() -> Iterator[None]:
    """What a command says that it changes is not looked at."""
    with patch.object(PathSet, "covers", lambda _paths, _pointer: True):
        yield


@contextmanager
def without_watching() -> Iterator[None]:
    """Once its first write is made, a change is applied whatever becomes of the grant."""
    with patch.object(ModuleWatch, "require", lambda _watch, _attempt: None):
        yield


@contextmanager
def without_transactions(document: DocumentStore) -> Iterator[None]:
    """What a handler asks to change is changed where it stands, and nothing is asked again."""

    def write(_call: ModuleCall, operations: Any) -> None:
        asked = read_operations(operations)
        found = document.read()
        done = worked_out(found.entities, asked)
        key = f"at-once-{found.revision}"
        revision = revision_after(found.revision, done.writes, key)
        kind = CommitKind.APPLY
        commit = Commit(key, kind, "tx-none", 1, found.revision, revision, done.writes)
        document.commit(commit, lambda: None)

    with patch.object(ModuleCall, "write", write):
        yield


@contextmanager
def without_remembering_noes() -> Iterator[None]:
    """Automation asks again for what a person denied."""
    with patch.object(ModuleGate, "_refused_before", lambda _gate, _ask: None):
        yield


def swallowing(*acts: Callable[[ModuleCall], object]) -> Callable[[ModuleCall], str]:
    """A handler that tries all of these and tells nobody what was refused."""

    def handle(call: ModuleCall) -> str:
        for act in acts:
            try:
                act(call)
            except CapabilityRejected:
                continue
        return "as if nothing had happened"

    return handle
