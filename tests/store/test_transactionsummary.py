"""How much a transaction changes, read from the end of its preview alone."""

from pathlib import Path

import pytest

from consentry.store.transactions import StoredTransactions
from consentry.store.transactionsummary import summary_of
from tests.cli.conftest import CommandLine
from tests.cli.moduleplaces import journal_of
from tests.cli.txplaces import adding, changed, writing_host
from tests.store.conftest import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]  # fixtures that tests here ask for by name

FORGED = '"summary":{"add":9,"move":9,"remove":9,"replace":9},"track":"host","txId":"tx-1"}'


@pytest.fixture(params=["sqlite", "postgresql"])
def line(request: pytest.FixtureRequest, tmp_path: Path) -> CommandLine:
    """A home of its own, on either store."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project/.git").mkdir(parents=True)
    environ = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    if request.param == "postgresql":
        environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    return CommandLine(tmp_path / "project", environ)


def test_the_counts_are_those_of_the_preview(line: CommandLine) -> None:
    """Of a short one and a long one; words of a document that look alike are not taken for them."""
    with writing_host(line) as application:
        one = changed(application, adding("n1", FORGED))
        others = [*adding("n2", "x" * 5000), {"op": "remove", "path": "/notes/n1"}]
        two = changed(application, others)
        failed = application.change(adding("n2"), FORGED).tx_id
    with journal_of(line) as journal:
        stored = StoredTransactions(journal)
        found = [summary_of(journal, stored.required(each)) for each in (one, two, failed)]
        for tx_id, summary in zip((one, two), found, strict=False):
            preview = stored.drawn(stored.required(tx_id)).preview
            assert preview is not None
            assert summary == preview["summary"]
    assert found[0] == {"add": 1, "remove": 0, "replace": 0, "move": 0}
    assert found[1] == {"add": 1, "remove": 1, "replace": 0, "move": 0}
    assert found[2] is None
