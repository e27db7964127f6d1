"""`consentry capability run`: results, statuses, the document, and what other commands tell of it."""

import json

import pytest

from consentry.base.codes import Code
from tests.cli.capabilities import (
    READER,
    TALL,
    answered,
    parked,
    run,
    saved,
    with_reader,
)
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.escalating import inbox
from tests.cli.execs import last_record, put
from tests.cli.terminals import at_terminal

HOSTILE = "\x1b]0;owned\x07\x1b[2J"


@pytest.fixture
def reader(line: CommandLine) -> CommandLine:
    """A capability that reads what it is told to, in `minimal`."""
    return with_reader(line)


def test_the_result_is_all_that_standard_output_has(line: CommandLine) -> None:
    """What the code prints is on the other stream; the variables are as they were given."""
    saved(line, "add", "print('said')\nresult = {'sum': sum(n), 'who': who}\n")
    done = run(line, "add", "--arg", "n=[1, 2]", "--arg", 'who="me"')
    assert (done.status, json.loads(done.out)) == (0, {"sum": 3, "who": "me"})
    assert done.err == "said\n"


def test_within_its_set_nothing_is_asked(line: CommandLine) -> None:
    """ESCALATION AC10.3: it runs, nobody is asked, and the record says what decided."""
    put(line, "data/x", "hello\n")
    saved(line, "reader", READER, "--set", "readonly")
    done = run(line, "reader", "--arg", 'name="data/x"')
    assert (done.status, json.loads(done.out)) == (0, "hello\n")
    assert inbox(line) == []
    user = last_record(line)["user"]
    assert user["consentMethod"] == "none"


def test_what_a_failed_attempt_wrote_is_discarded(consentry: CommandLine) -> None:
    """Checked from outside: neither after the no, nor of the first attempt after the yes."""
    put(consentry, "output/kept", "before\n")
    code = (
        "import os\nnumber = len(os.listdir('output'))\n"
        "open(f'output/{number}', 'w').write('x')\nresult = open(name).read()\n"
    )
    saved(consentry, "writer", code)
    assert consentry("capability", "set", "writer", "mcp-standard").status == 0
    failed = run(consentry, "writer", "--arg", 'name="nowhere"')
    assert failed.status == 1
    assert [each.name for each in (consentry.cwd / "output").iterdir()] == ["kept"]
    assert run(consentry, "writer", "--arg", 'name="writer.py"').status == 0
    assert sorted(each.name for each in (consentry.cwd / "output").iterdir()) == ["1", "kept"]


@pytest.mark.parametrize(
    ("code", "words", "status"),
    [
        ("raise ValueError('no')", (), 1),
        ("import sys\nsys.exit(7)", (), 7),
        ("result = {1, 2}", (), 1),
        ("while True: pass", ("--timeout", "300ms"), 124),
        ("result = 1", ("--timeout", "soon"), 2),
        ("result = 1", ("--arg", "n"), 2),
        ("result = 1", ("--arg", "n={"), 2),
        ("result = 1", ("--arg", "n=NaN"), 2),
        ("result = 1", ("--net", "none", "--net", "a.example"), 2),
        ("result = 1", ("--execution", ""), 2),
        ("result = 1", ("--status-fd", "99"), 2),
        ("result = 1", ("too", "many"), 2),
    ],
)
def test_statuses(consentry: CommandLine, code: str, words: tuple[str, ...], status: int) -> None:
    """CONTRACTS §11: the code's own, or ours with one clear message; standard output stays empty."""
    saved(consentry, "some", f"{code}\n")
    done = run(consentry, "some", *words)
    assert (done.status, done.out) == (status, ""), done.err
    if status == 2:
        assert_error(done, Code.USAGE)


def test_what_cannot_be_meant_is_told_before_anything_runs(consentry: CommandLine) -> None:
    """A host that is none, whatever the set opens, and a folder that is not there."""
    saved(consentry, "some", "result = 1\n")
    assert_error(run(consentry, "some", "--net", "not a host"), Code.SURFACE_HOST)
    assert_error(run(consentry, "some", "--workspace", "nowhere"), Code.WORKSPACE_MISSING)


def test_our_own_status_is_told_apart(consentry: CommandLine) -> None:
    """`--status-fd`: 0 where the code ran, whatever it chose; ours where a person decided."""
    saved(consentry, "seven", "import sys\nsys.exit(7)\n")
    done = consentry.in_shell("consentry capability run seven --status-fd 3 3> ours; echo $?")
    assert done.out == "7\n"
    assert (consentry.cwd / "ours").read_text() == "0\n"


def test_the_document_has_everything(reader: CommandLine) -> None:
    """The record, the result, both attempts, the capability as it is now, and the question."""
    words = ("capability", "run", "reader", "--arg", 'name="data/x"', "--json")
    script = f"{' '.join(reader.program)} {' '.join(words[:-1])} --json > document"
    script = script.replace('name="data/x"', "'name=\"data/x\"'")
    with at_terminal(reader, "-c", script, program=["/bin/sh"], size=TALL) as terminal:
        terminal.answer("r reject", "a")
        assert terminal.ended() == 0, terminal.screen
    document = json.loads((reader.cwd / "document").read_text())
    assert (document["kind"], document["result"], document["error"]) == (
        "capability-run",
        "hello\n",
        None,
    )
    assert [each["permissionSet"] for each in document["attempts"]] == ["minimal", "readonly"]
    assert document["run"]["id"] == document["attempts"][1]["run"]
    assert document["capability"]["effectiveSet"] == "readonly"
    (escalation,) = document["escalations"]
    assert (escalation["approved"], escalation["newSet"]) == (True, "readonly")
    assert escalation["request"]["requestedSet"] == "readonly"


def test_hostile_code_does_nothing_to_the_terminal(consentry: CommandLine) -> None:
    """Escapes in a result, an error, a file name that was denied: all are shown as text."""
    saved(consentry, "result", f"result = {HOSTILE!r}\n")
    assert HOSTILE not in run(consentry, "result").out
    saved(consentry, "error", f"raise ValueError({HOSTILE!r})\n")
    assert HOSTILE not in run(consentry, "error").err
    put(consentry, f"x{HOSTILE}y", "x")
    saved(consentry, "named", f"result = open({f'x{HOSTILE}y'!r}).read()\n")
    consentry("capability", "set", "named", "minimal")
    with at_terminal(consentry, "capability", "run", "named", size=TALL) as terminal:
        text = terminal.see("r reject")
        terminal.answer("", "r")
        assert terminal.ended() == 126, terminal.screen
    for each in (text, terminal.screen):
        assert "\x07" not in each
        assert "\x1b]0" not in each
        assert "\x1b[2J" not in each


def test_other_commands_tell_of_it_as_well(reader: CommandLine) -> None:
    """`why`, `report`, `audit show` and `audit verify` take what escalations leave in the ledger."""
    request_id, _ = parked(reader, "reader", "--arg", 'name="data/x"')
    answered(reader, request_id, "a")
    saved(reader, "runs", "import os\nresult = os.system('id')\n")
    run(reader, "runs", "--no-wait")
    told = reader("why").out
    assert "consent   none: its permission set decided" in told
    assert "allow it with --" not in told
    assert "reader" in reader("report").out
    for words in (
        ("report", "--json"),
        ("audit", "verify"),
        ("audit", "export", "--format", "ocsf"),
    ):
        done = reader(*words)
        assert done.status == 0, done.err
    kinds = set()
    for event in json.loads(reader("audit", "log", "--json", "--last", "500").out)["events"]:
        kinds.add(event["type"])
        assert reader("audit", "show", event["eventId"]).status == 0
    assert {"workflow.pattern.saved", "permission.escalation.decided"} <= kinds
