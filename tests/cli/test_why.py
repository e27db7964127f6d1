"""`consentry why`: a run is explained from its record alone."""

import json

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error


@pytest.fixture
def stopped(consentry: CommandLine) -> CommandLine:
    """A command line with one run on record, of which one thing was stopped."""
    script = "cat data.txt; cat /etc/shadow"
    (consentry.cwd / "data.txt").write_text("hello")
    ended = consentry("exec", "--exec", "cat", "--", "sh", "-c", script)
    assert ended.status == 1
    return consentry


def test_latest_run_is_explained(stopped: CommandLine) -> None:
    """What ran, how it ended, what was stopped and by what."""
    ended = stopped("why")
    rows = ended.out.splitlines()
    assert (ended.status, ended.err) == (0, "")
    assert rows[0] == "sh -c 'cat data.txt; cat /etc/shadow'"
    assert "  ended     failure, exit status 1" in rows
    assert "stopped (1)" in rows
    assert rows[-1].startswith("  read /etc/shadow: protected root /etc/")


def test_more_is_told_on_request(stopped: CommandLine) -> None:
    """The files that were read, and each control with what held it."""
    out = stopped("why", "--verbose").out
    assert "read (1)\n  data.txt\n" in out
    assert "  no-network       a network namespace with nothing in it (kernel)\n" in out


def test_only_what_was_stopped(stopped: CommandLine) -> None:
    """One row for each, for scripts that have no JSON."""
    [row] = stopped("why", "--quiet").out.splitlines()
    assert row.startswith("read /etc/shadow: ")


def test_any_id_of_a_run_names_it(stopped: CommandLine) -> None:
    """The record's own, that of its event and that of its permit; others do not."""
    document = json.loads(stopped("why", "--json").out)
    assert document["kind"] == "why"
    run = document["run"]
    assert stopped("exec", "--", "true").status == 0
    for name in (run["id"], document["event"], run["permitId"]):
        assert json.loads(stopped("why", name, "--json").out)["run"] == run
    assert json.loads(stopped("why", "--json").out)["run"]["tool"]["name"] == "true"
    assert_error(stopped("why", run["tool"]["version"]), Code.RUN_UNKNOWN)
    assert_error(stopped("why", b"\xff"), Code.RUN_UNKNOWN)


def test_nothing_to_explain(consentry: CommandLine) -> None:
    """Before the first run, and for an id that names none."""
    assert_error(consentry("why"), Code.RUN_UNKNOWN)
    assert_error(consentry("why", "audit-1"), Code.RUN_UNKNOWN)
