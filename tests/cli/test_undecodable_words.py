"""Words of the command line that are not UTF-8: refused where text is meant, and never a fault."""

from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import look_around
from tests.cli.conftest import CommandLine, assert_error


@pytest.fixture
def state(consentry: CommandLine, tmp_path: Path) -> Path:
    """A state directory with a ledger, which the commands use."""
    folder = tmp_path / "state"
    consentry.environ["CONSENTRY_STATE"] = str(folder)
    ledger_for_writing(look_around(consentry.environ)).close()
    return folder


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize(
    "words",
    [
        ("audit", "log", "--subject"),
        ("audit", "log", "--follow", "--type"),
        ("audit", "export", "--session"),
        ("audit", "export", "--decision"),
        ("audit", "log", "--since"),
        ("audit", "show"),
        ("audit", "proof"),
        ("session", "end"),
    ],
)
def test_what_is_compared_with_the_record_must_be_text(
    consentry: CommandLine, words: tuple[str, ...]
) -> None:
    """The message shows the bytes."""
    ended = consentry(*words, b"tool:\xff")
    assert_error(ended, Code.USAGE)
    assert "tool:\\x{ff}" in ended.err


@pytest.mark.usefixtures("state")
def test_the_name_of_a_file_may_be_any_bytes(consentry: CommandLine) -> None:
    """As the system has it."""
    assert consentry("audit", "export", "--out", b"\xff.jsonl").status == 0
    assert consentry("audit", "backup", b"\xff.db").status == 0
