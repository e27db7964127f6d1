"""What commands that run something end with: the program's own status or ours, told apart by `--status-fd`."""

import signal

import pytest

from tests.cli.capabilities import parked, run, saved, with_reader, without_terminal
from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import write_consent, write_tool
from tests.denos import deno_line

__all__ = ["deno_line"]  # a fixture that tests here ask for by name

CRASHED = "import faulthandler\nfaulthandler._read_null()\nresult = 1\n"
LARGE = "result = len(bytearray(400 * 1024 * 1024))\n"


@pytest.mark.parametrize(
    ("code", "status"), [("raise SystemExit(7)\n", 7), (CRASHED, 128 + signal.SIGSEGV)]
)
def test_every_command_passes_on_what_a_program_ended_with(
    line: CommandLine, code: str, status: int
) -> None:
    """CONTRACTS §11-other: `run`, `exec`, `code` and `capability run`; 128 and the signal."""
    write_tool(line, "some", code)
    write_consent(line, {"none": {"allowedTools": ["some"]}})
    assert line("run", "some").status == status
    assert line("exec", "--", "/usr/bin/python3", "some.py").status == status
    assert line("code", "some.py").status == status
    saved(line, "some", code)
    assert line("capability", "run", "some").status == status


def statuses(line: CommandLine, name: str, *words: str) -> list[int]:
    """What the command ended with, and what it said of its own."""
    typed = " ".join(words)
    done = without_terminal(line).in_shell(
        f"consentry capability run {name} {typed} --status-fd 3 3> ours; echo $?; cat ours"
    )
    return [int(each) for each in done.out.split()]


@pytest.mark.parametrize(
    ("code", "words", "own", "ours"),
    [
        ("result = 7\n", ("--json > told",), 0, 0),
        ("raise SystemExit(7)\n", (), 7, 0),
        ("raise SystemExit(126)\n", (), 126, 0),
        ("raise ValueError(7)\n", (), 1, 0),
        (CRASHED, (), 128 + signal.SIGSEGV, 0),
        ("while True: pass\n", ("--timeout", "300ms"), 124, 124),
        ("while True: pass\n", ("--cpu", "1"), 137, 137),
        ("while True: print('x' * 100)\n", ("--max-output", "1K"), 137, 137),
    ],
)
def test_python_ends_with_its_own_status_or_that_of_a_limit(
    line: CommandLine, code: str, words: tuple[str, ...], own: int, ours: int
) -> None:
    """CONTRACTS §11-other, §11-124, §11-137: 128 and the signal; 0 is ours where nothing was."""
    saved(line, "some", code)
    assert statuses(line, "some", *words) == [own, ours]


@pytest.mark.parametrize(
    ("code", "words", "own", "ours"),
    [
        ("Deno.exit(7);", (), 7, 0),
        ("throw new Error('no');", (), 1, 0),
        ("while (true) {}", ("--timeout", "1s"), 124, 124),
        ("while (true) {}", ("--cpu", "1"), 137, 137),
    ],
)
def test_so_does_typescript(
    deno_line: CommandLine, code: str, words: tuple[str, ...], own: int, ours: int
) -> None:
    """CONTRACTS §11-other: the same by Deno."""
    saved(deno_line, "some", code, ending="ts")
    assert statuses(deno_line, "some", *words) == [own, ours]


@pytest.mark.parametrize("permission_set", ["minimal", "mcp-standard"])
def test_no_result_is_1_whether_it_could_write_or_not(
    line: CommandLine, permission_set: str
) -> None:
    """CONTRACTS §11-1: it ended well by its own word, and gave nothing back; nobody was denied anything."""
    saved(line, "some", "raise SystemExit(0)\n")
    assert line("capability", "set", "some", permission_set).status == 0
    assert statuses(line, "some") == [1, 0]


def test_memory_that_is_not_there_is_no_status_of_a_success(line: CommandLine) -> None:
    """CONTRACTS §11-137: killed by the limit, or refused the memory and ended by its own error."""
    saved(line, "large", LARGE)
    own, ours = statuses(line, "large", "--memory", "64M")
    assert (own, ours) in ((137, 137), (1, 0))
    assert statuses(line, "large", "--json > told") == [0, 0]


def test_a_question_that_waits_is_75(line: CommandLine) -> None:
    """CONTRACTS §11-75: parked; the status is ours."""
    reader = with_reader(line)
    words = ("--arg", "'name=\"data/x\"'", "--no-wait")
    assert statuses(reader, "reader", *words) == [75, 75]


def test_a_denied_escalation_is_126(line: CommandLine) -> None:
    """CONTRACTS §11-126: a person's no is ours to tell; what nobody may open is the code's own."""
    reader = with_reader(line)
    request_id, execution = parked(reader, "reader", "--arg", 'name="data/x"')
    with at_terminal(reader, "deny", request_id, "--reason", "no") as terminal:
        assert terminal.ended() == 0, terminal.screen
    words = ("--arg", "'name=\"data/x\"'", "--execution", execution)
    assert statuses(reader, "reader", *words) == [126, 126]
    assert run(reader, "reader", "--arg", 'name="/etc/shadow"').status == 1
