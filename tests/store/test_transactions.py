"""Attempts in both databases: one step at a time, keys, blocks, and rows that nobody here wrote (CONTRACTS §3)."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from consentry.base.errors import LedgerProblem, Refused, UsageProblem
from consentry.decide.identity import Role
from consentry.decide.txstep import Stage, Step
from consentry.store.rows import Overtaken
from consentry.store.transactions import TxChoice
from tests.decide.samples import NOW, OWNER, sample_id
from tests.decide.txsamples import WORKER, S
from tests.store.conftest import Store
from tests.store.keepers import types
from tests.store.keptchanges import ASKED, CALLER, Kept


@pytest.fixture
def kept(store: Store) -> Kept:
    """One program."""
    return Kept(store)


# Steps.


def test_an_attempt_is_kept_with_its_steps(kept: Kept) -> None:
    """CONTRACTS §3-audit: every step is an event, in the append that keeps the row."""
    attempt = kept.begun()
    assert kept.stored.required(attempt.tx_id) == attempt
    assert attempt.version == 4
    assert types(kept.ledger) == ["transaction.transition"] * 4


def test_a_step_that_saw_another_version_is_none(kept: Kept) -> None:
    """CONTRACTS §3-states: of two steps from one state, one is taken; the other leaves nothing."""
    attempt = kept.begun()
    applying = kept.applying(attempt)
    before = types(kept.ledger)
    with pytest.raises(Overtaken):
        kept.applying(attempt, "another")
    assert kept.stored.required(attempt.tx_id) == applying
    assert types(kept.ledger) == before
    assert kept.rows("SELECT count(*) FROM transaction_key") == [(1,)]


def test_of_programs_that_step_at_once_one_does(kept: Kept, store: Store) -> None:
    """CONTRACTS §3-apply: in both databases, with connections of their own."""
    attempt = kept.begun()
    programs = [kept, *(Kept(store) for _ in range(3))]

    def step(number: int) -> bool:
        try:
            programs[number].applying(attempt, f"key-{number}")
        except Overtaken:
            return False
        return True

    with ThreadPoolExecutor(len(programs)) as pool:
        assert sum(pool.map(step, range(len(programs)))) == 1
    assert types(kept.ledger).count("transaction.transition") == 5


def test_steps_that_are_taken_together_are_all_there_or_none(kept: Kept) -> None:
    """CONTRACTS §3-audit: an event without its row, or a row without its event, there is not."""
    attempt = kept.begun()

    def fail(_: object) -> None:
        raise ZeroDivisionError

    after = attempt.applying("key", WORKER, NOW)
    with pytest.raises(ZeroDivisionError):
        kept.stored.take(Step(attempt.state, after, Stage.APPLY, CALLER), change=fail)
    assert kept.stored.required(attempt.tx_id) == attempt
    assert types(kept.ledger) == ["transaction.transition"] * 4
    assert kept.rows("SELECT count(*) FROM transaction_key") == [(0,)]


def test_one_id_is_one_transaction(kept: Kept) -> None:
    """CONTRACTS §3-attempt: a second first attempt of the same id is not kept."""
    kept.begun()
    with pytest.raises(Overtaken):
        kept.begun()
    assert len(kept.stored.attempts(sample_id("tx"))) == 1


# Keys.


@pytest.mark.parametrize("state", [S.APPLYING, S.APPLIED, S.ROLLED_BACK, S.RECOVERY_PENDING])
def test_a_key_that_is_in_use_belongs_to_its_attempt(kept: Kept, state: S) -> None:
    """CONTRACTS §3-apply: in flight, committed, and taken back: another transaction does not get it."""
    first = kept.applying(kept.begun())
    ways = {S.APPLIED: [S.APPLIED], S.ROLLED_BACK: [S.APPLIED, S.ROLLBACK_PENDING, S.ROLLED_BACK]}
    for each in ways.get(state, [] if state is S.APPLYING else [state]):
        first = kept.to(first, each)
    second = kept.begun(number=2)
    with pytest.raises(UsageProblem, match=f"belongs to `{first.tx_id}`, attempt 1, which is"):
        kept.applying(second)
    assert kept.stored.required(second.tx_id) == second


def test_a_key_whose_attempt_came_to_nothing_passes_on(kept: Kept) -> None:
    """CONTRACTS §3-apply: failed before a commit: whoever comes next has it, and has it alone."""
    kept.to(kept.applying(kept.begun()), S.FAILED_PRE_APPLY)
    assert kept.applying(kept.begun(number=2)).state is S.APPLYING
    with pytest.raises(UsageProblem):
        kept.applying(kept.begun(number=3))


def test_a_key_of_one_kind_and_document_is_free_in_others(kept: Kept) -> None:
    """CONTRACTS §3-rollback: “rollbackIdempotencyKey” and the apply's are told apart, and so are documents."""
    first = kept.to(kept.applying(kept.begun(), "undo"), S.APPLIED)
    assert kept.to(first, S.ROLLBACK_PENDING).rollback_key == "undo"
    other = kept.begun(number=2, document_id="another")
    assert kept.applying(other, "undo").state is S.APPLYING


# What blocks a document.


def test_what_could_not_be_settled_blocks_its_document(kept: Kept) -> None:
    """CONTRACTS §3-terminal-block: every apply of that document, and of no other, until it is resolved once."""
    attempt = kept.applying(kept.begun())
    for each in (S.RECOVERY_PENDING, S.FAILED_TERMINAL):
        attempt = kept.to(attempt, each)
    [block] = kept.stored.blocks("note-board")
    assert (block.tx_id, block.attempt_no) == (attempt.tx_id, 1)
    assert kept.stored.all_blocks() == [block]
    waits = kept.begun(number=2)
    with pytest.raises(Refused, match="is blocked by") as refused:
        kept.applying(waits, "other")
    assert refused.value.code == "tx-blocked"
    assert refused.value.help_line == f"consentry tx resolve {attempt.tx_id}"
    assert kept.applying(kept.begun(number=3, document_id="another")).state is S.APPLYING
    kept.stored.resolve(attempt, OWNER, Role.OPERATOR, "looked at it")
    with pytest.raises(Refused, match="blocks nothing"):
        kept.stored.resolve(attempt, OWNER, Role.OPERATOR, "again")
    assert kept.stored.required(attempt.tx_id) == attempt
    assert types(kept.ledger).count("transaction.resolved") == 1
    assert kept.applying(waits, "other").state is S.APPLYING


# Reading.


def test_an_unknown_one_is_told(kept: Kept) -> None:
    """CONTRACTS §3-attempt: by id, and by number."""
    kept.begun()
    for named in ((sample_id("tx", 9),), (sample_id("tx"), 2)):
        with pytest.raises(UsageProblem, match="no transaction has the id"):
            kept.stored.required(*named)


def test_they_are_listed_by_what_is_named(kept: Kept) -> None:
    """CONTRACTS §3-states: by host, document, module and state; of each transaction its latest."""
    one, two = kept.begun(), kept.begun(S.APPROVAL_PENDING, 2, document_id="another")
    listed = kept.stored.listed
    assert {each.tx_id for each in listed(TxChoice())} == {one.tx_id, two.tx_id}
    for choice, found in (
        (TxChoice(document_id="another"), [two]),
        (TxChoice(states=[S.APPROVED]), [one]),
        (TxChoice(module_id="word-count", states=[S.APPROVAL_PENDING]), [two]),
        (TxChoice(host_id="nobody"), []),
    ):
        assert list(listed(choice)) == found
    assert len(listed(TxChoice(), most=1)) == 1


def test_what_it_is_about_is_read_back(kept: Kept) -> None:
    """CONTRACTS §3-preview: operations, preview and journal, as they were."""
    attempt = kept.begun()
    drawn = kept.stored.drawn(attempt)
    assert [each.to_json() for each in drawn.operations] == [{**ASKED[0], "scope": "doc"}]
    assert drawn.preview is not None
    assert drawn.preview["previewHash"] == attempt.preview_hash
    assert tuple(drawn.writes) == kept.stored.journal(attempt)


# Rows that nobody here wrote.


@pytest.mark.parametrize(
    "changed",
    [
        "state = 'APPLIED'",
        "version = 9",
        "document_id = 'another'",
        "host_id = 'another'",
        "module_id = NULL",
        "request_id = NULL",
        "created_at = '2020-01-01T00:00:00.000Z'",
        "changed_at = '2020-01-01T00:00:00.000Z'",
        "attempt = '{}'",
        "attempt = 'null'",
        "attempt = '['",
        "attempt = replace(attempt, 'APPROVED', 'APPLIED')",
        "attempt = replace(attempt, '\"attemptNo\":1', '\"attemptNo\":2')",
        "attempt = replace(attempt, 'owner', 'king')",
    ],
)
def test_a_row_that_nobody_here_wrote_is_not_believed(kept: Kept, changed: str) -> None:
    """CONTRACTS §3-attempt: its columns and its attempt say the same, or it is corrupt."""
    attempt = kept.begun()
    query = "UPDATE transaction_attempt SET {}"
    kept.run(query.format(changed))
    with pytest.raises(LedgerProblem, match="cannot be believed"):
        kept.stored.required(attempt.tx_id)


def test_an_attempt_in_the_place_of_another_is_not_believed(kept: Kept) -> None:
    """CONTRACTS §3-attempt: whose id the row has is not whose attempt it is."""
    one, two = kept.begun(), kept.begun(number=2)
    query = "SELECT attempt FROM transaction_attempt WHERE tx_id = '{}'"
    [(text,)] = kept.rows(query.format(two.tx_id))
    kept.run("UPDATE transaction_attempt SET attempt = ? WHERE tx_id = ?", (text, one.tx_id))
    with pytest.raises(LedgerProblem, match="its columns say something else"):
        kept.stored.required(one.tx_id)


def _other(column: str, stored: str) -> Any:
    """The text of a content column, changed in a way that still reads well."""
    document = json.loads(stored)
    match column:
        case "preview":
            document["entries"][0]["after"] = "other"
        case "writes":
            document[0]["after"]["value"] = "other"
        case _:
            document[0]["op"] = "copy"
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("column", ["preview", "writes", "operations"])
@pytest.mark.parametrize("how", ["changed", "broken", "gone"])
def test_content_that_nobody_here_wrote_is_not_believed(kept: Kept, column: str, how: str) -> None:
    """CONTRACTS §3-hash, §3-rollback: preview and journal are held against the hashes of the attempt."""
    attempt = kept.begun()
    read, write = "SELECT {} FROM transaction_content", "UPDATE transaction_content SET {} = ?"
    [(stored,)] = kept.rows(read.format(column))
    text = {"changed": _other(column, str(stored)), "broken": "[{", "gone": "[]"}[how]
    kept.run(write.format(column), (text,))
    with pytest.raises(LedgerProblem, match="cannot be believed"):
        kept.stored.drawn(attempt)
    if column != "operations":
        with pytest.raises(LedgerProblem, match="cannot be believed"):
            kept.stored.journal(attempt)


def test_the_content_of_another_is_not_believed(kept: Kept) -> None:
    """CONTRACTS §3-hash: also where it is whole: it is another attempt's preview and journal."""
    one, two = kept.begun(), kept.begun(number=2)
    query = "SELECT preview, writes FROM transaction_content WHERE tx_id = '{}'"
    [content] = kept.rows(query.format(two.tx_id))
    place = (*content, one.tx_id)
    kept.run("UPDATE transaction_content SET preview = ?, writes = ? WHERE tx_id = ?", place)
    with pytest.raises(LedgerProblem, match="another one"):
        kept.stored.journal(one)
