"""The document that a drill steps into the middle of: it keeps the rules that hosts' own stores have to keep."""

import pytest

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.decide.documentstore import Commit, CommitKind
from consentry.decide.statechange import ABSENT, EntityName, EntityWrite
from consentry.decide.txpreview import NO_REVISION
from consentry.service.documentconformance import check_document_store
from consentry.service.documentrules import RULES
from consentry.service.drilldocument import SteppedDocument

IDS = Uuid7Ids(SystemClock())
ONE, TWO = EntityName("notes", "one"), EntityName("notes", "two")


def test_it_keeps_every_rule_of_a_document_store() -> None:
    """CONTRACTS §3-apply, §3-rollback: as the suite for hosts' own stores says."""
    opened: dict[str, SteppedDocument] = {}
    verdicts = check_document_store(
        lambda name: opened.setdefault(name, SteppedDocument(name, IDS))
    )
    assert {each.rule for each in verdicts if each.is_kept} == set(RULES)


def test_it_is_stepped_into_behind_the_first_write() -> None:
    """CONTRACTS §3-violation: something was written by then, and is gone where the check says no after it."""
    seen: list[set[EntityName]] = []
    document = SteppedDocument("d", IDS, lambda: seen.append(set(document.read().entities)))
    writes = [EntityWrite(name, ABSENT, {"text": "x"}) for name in (ONE, TWO)]
    commit = Commit("k", CommitKind.APPLY, "tx-1", 1, NO_REVISION, "revision-1", writes)

    def check() -> None:
        if seen:
            raise PermissionError

    with pytest.raises(PermissionError):
        document.commit(commit, check)
    assert seen == [{ONE}]
    assert (document.read().revision, dict(document.read().entities)) == (NO_REVISION, {})
    assert document.settle(commit) is None
