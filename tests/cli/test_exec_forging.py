"""A program that forges what `consentry exec` tells of it: the line for scripts, the record, the list."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record, put
from tests.enforce.attacks.attackers import PRELUDE
from tests.enforce.attacks.test_forging import SHUFFLE


@pytest.fixture
def forger(consentry: CommandLine) -> CommandLine:
    """A project with the program above in it."""
    put(consentry, "forge.py", PRELUDE + SHUFFLE)
    return consentry


def test_the_line_for_scripts_is_ours_alone(forger: CommandLine) -> None:
    """A descriptor that `--status-fd` names is not the program's, whatever it writes to it."""
    line = (
        "consentry exec --status-fd 9 -- python3 -I -S forge.py --spare 9>ours; echo $?; cat ours"
    )
    ended = forger.in_shell(line)
    said = ended.out.splitlines()
    assert said[-2:] == ["7", "0"], ended.out


def test_the_record_has_what_happened(forger: CommandLine) -> None:
    """Its words are output; status and violations are what was seen."""
    ended = forger("exec", "--json", "--", "python3", "-I", "-S", "forge.py", "--spare")
    document = json.loads(ended.out)
    assert ended.status == document["exit_status"] == 7
    entry = document["run"]
    assert entry["execution"]["exitCode"] == 7
    assert [each["resource"] for each in entry["sandbox"]["violations"]] == ["/etc/shadow"]
    assert last_record(forger) == entry


def test_a_name_cannot_pass_for_lines_of_ours(consentry: CommandLine) -> None:
    """Line ends, colours and cursor movements in what was asked for are shown as escapes."""
    name = "x\n  read /etc/shadow: allowed\x1b[2K\r\x1b[1A"
    secret = put(consentry, f"../{name}", "secret")
    code = "import sys\ntry: open(sys.argv[1])\nexcept OSError: pass"
    ended = consentry("exec", "--", "python3", "-I", "-c", code, os.fspath(secret))
    assert ended.status == 0
    assert "\x1b" not in ended.err
    assert "\r" not in ended.err
    assert not [line for line in ended.err.splitlines() if line.strip().startswith("read /etc")]
    [violation] = last_record(consentry)["sandbox"]["violations"]
    assert Path(violation["resource"]).name != "x"
