"""A host with several documents in one ledger: a transaction is carried out on its own one and on no other."""

from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.errors import UsageProblem
from consentry.decide.identity import Role
from consentry.decide.txattempt import Attempt
from consentry.service.modulehost import ModuleHost

ADDS = [{"op": "add", "path": "/notes/one", "value": {"text": "mine"}}]
DEEDS: dict[str, Callable[[ModuleHost, str], object]] = {
    "look": lambda host, tx_id: host.transactions.look(tx_id),
    "apply": lambda host, tx_id: host.transactions.apply(tx_id),
    "roll back": lambda host, tx_id: host.transactions.roll_back(tx_id),
    "preview again": lambda host, tx_id: host.transactions.preview_again(tx_id),
    "reject": lambda host, tx_id: host.transactions.reject(tx_id, host.user, Role.OWNER),
    "resolve": lambda host, tx_id: host.transactions.resolve(tx_id, host.user, Role.OWNER, "x"),
}


def opened(home: Path, document: str) -> ModuleHost:
    """A host with the built-in document of that name."""
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    return ModuleHost(environ, "note-board", "1.0.0", document=document)


def changed(host: ModuleHost) -> Attempt:
    """A note put into its document."""
    return host.change(ADDS, "add a note")


def test_documents_of_one_host_are_apart(tmp_path: Path) -> None:
    """CONTRACTS §3-apply: what is applied to the one is not in the other, and each lists its own."""
    with opened(tmp_path, "first") as first, opened(tmp_path, "second") as second:
        attempt = changed(first)
        assert first.state() == {"notes": {"one": {"text": "mine"}}}
        assert second.state() == {}
        assert [each.tx_id for each in first.transactions.listed()] == [attempt.tx_id]
        assert second.transactions.listed() == []


@pytest.mark.parametrize("deed", DEEDS)
def test_a_transaction_of_another_document_is_none_here(tmp_path: Path, deed: str) -> None:
    """CONTRACTS §3-apply: whatever is asked for, neither document is written and the attempt stays."""
    with opened(tmp_path, "first") as first, opened(tmp_path, "second") as second:
        attempt = changed(first)
        changed(second)
        before = second.document.read(None)
        with pytest.raises(UsageProblem, match="is about `first`, not `second`"):
            DEEDS[deed](second, attempt.tx_id)
        assert second.document.read(None) == before
        assert first.transactions.look(attempt.tx_id) == attempt
        assert first.transactions.roll_back(attempt.tx_id).state == "ROLLED_BACK"
        assert first.state() == {}
