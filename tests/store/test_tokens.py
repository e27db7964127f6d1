"""Tokens in both databases: minted with their consent, used while it stands, counted by the ledger."""

from typing import Any

import pytest

from consentry.base.clock import ManualClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, LedgerProblem, Refused
from consentry.base.units import Duration
from consentry.decide.budgets import Budget, UseKind
from consentry.decide.consent import Consent
from consentry.decide.lasting import Lasts
from consentry.decide.machine import MachineScope
from consentry.decide.session import SessionKind
from consentry.decide.tokenrecords import LONGEST_LIFE, MintedToken, TokenUse
from consentry.decide.tokens import CapabilityBundle, FsReadWriteCapability
from consentry.store.database import Dialect
from consentry.store.ledger import Ledger
from consentry.store.rebuild import rebuild
from consentry.store.steps import Step
from consentry.store.tokens import all_tokens, budget_of, find_token
from tests.decide.minting import WIDE, minted, need
from tests.decide.samples import MACHINE, NOW, OTHER_MACHINE, OWNER, terms
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.keepers import Keepers, all_rows, events, pass_time, types
from tests.store.sizes import IS_FULL

MANY = 10_000 if IS_FULL else 300
TABLES = ("capability_token", "capability_budget")


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def agreed(keepers: Keepers, lasts: Lasts = Lasts.PERMANENT, **changes: object) -> Consent:
    """A consent to the whole of a small project, on this machine."""
    scope = MachineScope(keepers.machine_id)
    return keepers.consents.give(terms(lasts, surface=WIDE, machine_scope=scope, **changes))


def token_of(keepers: Keepers, given: Consent | None = None, **changes: Any) -> Any:
    """A token for writing, against a fresh consent where none is named."""
    machine = keepers.machines.find(keepers.machine_id) or keepers.machines.register("host")
    wanted = changes.pop("needs", None) or need(machine=machine)
    return minted(keepers.tokens, given or agreed(keepers), needs=wanted, **changes)


def write(keepers: Keepers, token: FsReadWriteCapability) -> None:
    """One use of it."""
    keepers.tokens.use(token.use(UseKind.FS_WRITE, "write", "out/x"))


def refusal_of(keepers: Keepers, token: FsReadWriteCapability) -> Code | None:
    """The code that a use is refused with; nothing was recorded of it then."""
    before = len(events(keepers.ledger))
    try:
        write(keepers, token)
    except ConsentryError as problem:
        assert len(events(keepers.ledger)) == before
        return problem.code
    return None


def test_minting_and_each_use_leave_an_event(keepers: Keepers) -> None:
    """TRUST §token-2, §token-3: tied by the token's id."""
    token = token_of(keepers)
    write(keepers, token)
    write(keepers, token)
    assert types(keepers.ledger)[-3:] == ["CapabilityMinted", "CapabilityUsed", "CapabilityUsed"]
    made, used, _ = events(keepers.ledger)[-3:]
    assert made["payload"]["tokenId"] == used["payload"]["tokenId"] == token.token_id
    assert (made["subject"], used["subject"]) == (token.token_id, token.token_id)
    assert made["payload"]["digest"] == token.digest
    assert (
        used["payload"] | {"operation": "write", "target": "out/x", "kind": "fs_write"}
        == (used["payload"])
    )
    told = find_token(keepers.ledger.database, token.token_id)
    assert told is not None
    assert (told.uses, told.used_at, told.token.scope) == (2, NOW, token.scope)


def test_a_consent_for_once_mints_one_token(keepers: Keepers) -> None:
    """TRUST §token-2: it is used up in the same step; a second one finds it used."""
    once = agreed(keepers, Lasts.ONCE)
    token = token_of(keepers, once)
    assert types(keepers.ledger)[-2:] == ["consent.used", "CapabilityMinted"]
    with pytest.raises(Refused) as refusal:
        token_of(keepers, once)
    assert refusal.value.code is Code.MINT_REFUSED
    assert refusal_of(keepers, token) is None
    assert len(all_tokens(keepers.ledger.database)) == 1


def test_a_consent_revoked_between_look_and_record_mints_nothing(keepers: Keepers) -> None:
    """The check is held again in the transaction of the event."""
    given = agreed(keepers)
    use_of = keepers.tokens._consents.use_of

    def meanwhile(consent_id: str) -> Any:
        held = use_of(consent_id)
        keepers.consents.revoke(consent_id, OWNER)
        return held

    keepers.tokens._consents.use_of = meanwhile  # type: ignore[assignment, method-assign]
    with pytest.raises(Refused) as refusal:
        token_of(keepers, given)
    assert refusal.value.code is Code.CONSENT_CLOSED
    assert all_tokens(keepers.ledger.database) == []


def test_a_forged_token_does_nothing(keepers: Keepers) -> None:
    """TRUST §token-3: made by hand, or an edited copy; the one that was minted works."""
    token = token_of(keepers)
    other = token.token_id[:-1] + ("0" if token.token_id[-1] != "0" else "1")
    for changes in (
        {"token_id": other},
        {"workspace": "/elsewhere"},
        {"write": ("./",)},
        {"workflow": "other"},
        {"expires_at": NOW.plus(LONGEST_LIFE)},
        {"consent_id": agreed(keepers).consent_id},
    ):
        forged = token.model_copy(update=changes)
        assert refusal_of(keepers, forged) is Code.TOKEN_REFUSED, changes
    assert refusal_of(keepers, token) is None


def test_with_the_check_off_the_forged_token_works(
    keepers: Keepers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control taken away: what refuses it is the comparison with what was minted."""
    token = token_of(keepers)

    def unchecked(_use: TokenUse, found: MintedToken | None, *_: object) -> MintedToken | None:
        return found

    monkeypatch.setattr("consentry.store.tokens.require_minted", unchecked)
    assert refusal_of(keepers, token.model_copy(update={"workspace": "/elsewhere"})) is None


def test_a_token_is_over_when_its_time_is(keepers: Keepers) -> None:
    """To the millisecond, and a clock that was set back gives it none back."""
    token = token_of(keepers, life=Duration(1000))
    pass_time(keepers, Duration(1000))
    assert refusal_of(keepers, token) is None
    pass_time(keepers, Duration(1))
    assert refusal_of(keepers, token) is Code.TOKEN_REFUSED
    keepers.clock.set_to(NOW.plus(Duration(1000)))  # type: ignore[attr-defined]
    assert refusal_of(keepers, token) is None
    later = token_of(keepers)
    keepers.clock.set_to(NOW)  # type: ignore[attr-defined]
    assert refusal_of(keepers, later) is Code.TOKEN_REFUSED


@pytest.mark.parametrize("lasts", [Lasts.PERMANENT, Lasts.ONCE])
def test_a_revoked_consent_ends_its_tokens(keepers: Keepers, lasts: Lasts) -> None:
    """Also one that minting had used up."""
    given = agreed(keepers, lasts)
    token, other = token_of(keepers, given), token_of(keepers)
    assert refusal_of(keepers, token) is None
    keepers.consents.revoke(given.consent_id, OWNER)
    assert refusal_of(keepers, token) is Code.TOKEN_REFUSED
    assert refusal_of(keepers, other) is None


def test_a_token_ends_with_the_session_of_its_consent(keepers: Keepers) -> None:
    """As the consent does."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY)
    given = agreed(keepers, Lasts.SESSION, session_id=session.session_id)
    machine = keepers.machines.register("host")
    token = token_of(keepers, given, needs=need(session=session, machine=machine))
    assert refusal_of(keepers, token) is None
    keepers.sessions.end(session.session_id)
    assert refusal_of(keepers, token) is Code.TOKEN_REFUSED


def test_a_token_is_for_its_machine(keepers: Keepers, store: Store) -> None:
    """Another one that shares the store refuses it."""
    token = token_of(keepers)
    there = keepers.elsewhere(OTHER_MACHINE, store.open())
    assert refusal_of(there, token) is Code.TOKEN_REFUSED
    assert (refusal_of(keepers, token), keepers.machine_id) == (None, WRITER)
    assert MACHINE != OTHER_MACHINE


def test_a_budget_is_the_workflows(keepers: Keepers) -> None:
    """TRUST §token-6: all its tokens use it up together, and another workflow has its own."""
    first = token_of(keepers, budget=Budget.of({"fs_write": 3}))
    second, other = token_of(keepers), token_of(keepers, workflow="other")
    assert [refusal_of(keepers, each) for each in (first, second, first)] == [None] * 3
    for each in (first, second, token_of(keepers)):
        assert refusal_of(keepers, each) is Code.BUDGET_EXHAUSTED
    assert refusal_of(keepers, other) is None
    keepers.tokens.use(first.use(UseKind.FS_READ, "read", "x"))
    lines = {each.kind: each for each in budget_of(keepers.ledger.database, "paper")}
    assert (lines[UseKind.FS_WRITE].uses, lines[UseKind.FS_WRITE].left) == (3, 0)
    assert (lines[UseKind.FS_READ].uses, lines[UseKind.FS_READ].left) == (1, None)


def test_a_later_token_cannot_raise_a_budget(keepers: Keepers) -> None:
    """Whoever holds one gives itself no more; it can lower a limit, or bring one that was missing."""
    token = token_of(keepers, budget=Budget.of({"fs_write": 2}))
    with pytest.raises(Refused) as refusal:
        token_of(keepers, budget=Budget.of({"fs_write": 3, "fs_read": 1}))
    assert refusal.value.code is Code.MINT_REFUSED
    assert len(all_tokens(keepers.ledger.database)) == 1
    token_of(keepers, budget=Budget.of({"fs_write": 1, "fs_read": 0}))
    assert [refusal_of(keepers, token) for _ in range(2)] == [None, Code.BUDGET_EXHAUSTED]
    with pytest.raises(Refused):
        keepers.tokens.use(token.use(UseKind.FS_READ, "read", None))


def test_threads_that_share_a_commit_share_the_budget(keepers: Keepers) -> None:
    """The count is taken before the events are appended, work by work in one transaction."""
    token = token_of(keepers, budget=Budget.of({"fs_write": 1}))
    uses = [keepers.tokens.use_of(token.use(UseKind.FS_WRITE, "write", None)) for _ in range(2)]

    def both(transaction: Any) -> None:
        for each in uses:
            each.change(transaction)

    with pytest.raises(Refused) as refusal:
        keepers.ledger.append(*uses[0].drafts, *uses[1].drafts, change=both)
    assert refusal.value.code is Code.BUDGET_EXHAUSTED
    assert refusal_of(keepers, token) is None


def test_a_rebuilt_ledger_has_the_same_tokens_and_counts(keepers: Keepers) -> None:
    """TRUST §token-6: budgets are read from events, and from nothing else."""
    scope = {"files": {"write": ["out/"]}, "git": {"operations": ["commit"]}}
    bundle = token_of(
        keepers, capability=CapabilityBundle, scope=scope, budget=Budget.of({"fs_write": 5})
    )
    for _ in range(3):
        write(keepers, bundle.files)
    database = keepers.ledger.database
    before = all_rows(database, *TABLES)
    for statement in (
        "UPDATE capability_budget SET most = 99, held = 0, uses = 0",
        "DELETE FROM capability_budget",
        "UPDATE capability_token SET workspace = '/elsewhere'",
    ):
        with database.writing() as transaction:
            transaction.run(statement)
        rebuild(database)
        assert all_rows(database, *TABLES) == before
    assert [refusal_of(keepers, bundle.files) for _ in range(3)] == [
        None,
        None,
        Code.BUDGET_EXHAUSTED,
    ]


@pytest.mark.timeout(600)
def test_the_last_of_many_uses_costs_no_more_than_the_first(keepers: Keepers) -> None:
    """10,000 events at full size: as many statements for the last, and each by an index."""
    token = token_of(keepers, budget=Budget.of({"fs_write": MANY}))
    first = _statements_of(keepers, token)
    for _ in range(MANY - 2):
        write(keepers, token)
    assert _statements_of(keepers, token) == first
    assert refusal_of(keepers, token) is Code.BUDGET_EXHAUSTED
    [line] = budget_of(keepers.ledger.database, "paper")
    assert line.uses == MANY
    if keepers.ledger.database.dialect is Dialect.SQLITE:
        assert [plan for plan in _plans(keepers, first) if "SCAN" in plan] == []


class _Counting:
    """A transaction that tells which statements were run in it."""

    def __init__(self, inner: Any, said: list[str]) -> None:
        self._inner, self._said = inner, said

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def run(self, statement: str, *given: Any) -> Any:
        """Runs it."""
        self._said.append(statement)
        return self._inner.run(statement, *given)

    def rows(self, statement: str, *given: Any) -> Any:
        """Asks it."""
        self._said.append(statement)
        return self._inner.rows(statement, *given)


def _statements_of(keepers: Keepers, token: FsReadWriteCapability) -> list[str]:
    said: list[str] = []
    recorded = keepers.tokens.use_of(token.use(UseKind.FS_WRITE, "write", "out/x"))

    def change(transaction: Any) -> None:
        recorded.change(_Counting(transaction, said))

    keepers.ledger.append(*recorded.drafts, change=change)
    return said


def _plans(keepers: Keepers, statements: list[str]) -> list[str]:
    with keepers.ledger.database.reading() as view:
        return [
            str(row[-1])
            for statement in statements
            for row in view.rows(f"EXPLAIN QUERY PLAN {statement}", ("x",) * statement.count("?"))
        ]


@pytest.mark.parametrize("step", [Step.CHANGED, Step.INSERTED, Step.PROJECTED, Step.HEAD_MOVED])
def test_a_use_that_could_not_be_recorded_was_none(store: Store, step: Step) -> None:
    """No record, no run: whatever goes wrong in between, nothing is counted and nothing begins."""
    keepers = Keepers(Ledger(store.open(), WRITER), ManualClock(NOW))
    token = token_of(keepers, budget=Budget.of({"fs_write": 1}))

    def fails(reached: Step) -> None:
        if reached is step:
            raise LedgerProblem(Code.LEDGER_UNWRITABLE, "the disk is full")

    failing = Keepers(Ledger(store.open(), WRITER, fails), ManualClock(NOW))
    with pytest.raises(LedgerProblem):
        write(failing, token)
    assert "CapabilityUsed" not in types(keepers.ledger)
    assert [refusal_of(keepers, token) for _ in range(2)] == [None, Code.BUDGET_EXHAUSTED]
