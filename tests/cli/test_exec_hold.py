"""`consentry exec --hold`: asked on a real terminal or from another process, while the program waits."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.decide.heldask import AT_ONCE
from tests.cli.asking import request_of
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import last_record, put, started
from tests.cli.terminals import PATIENCE, at_terminal
from tests.cli.toolhomes import config_of, events_of, write
from tests.elsewhere import folder_elsewhere

TALL = (200, 60)
READS = """
import sys
try: print("it says", open(sys.argv[1]).read(), flush=True)
except OSError as problem: print(type(problem).__name__, flush=True)
"""


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder beside everything that is granted, with a file in it."""
    with folder_elsewhere() as folder:
        folder.chmod(0o777)
        (folder / "secret.txt").write_text("blue")
        (folder / "secret.txt").chmod(0o644)
        yield folder


@pytest.fixture
def line(consentry: CommandLine) -> CommandLine:
    """A user with a program that reads the file that it is told to."""
    put(consentry, "reads.py", READS)
    return consentry


def held(*words: str) -> tuple[str, ...]:
    """The words that run Python and hold what it is refused."""
    return ("exec", "--hold", *words, "--", "python3")


def waiting(line: CommandLine) -> str:
    """The id of the one question that waits, once it does."""
    deadline = time.monotonic() + PATIENCE
    while not (found := line("inbox", "--quiet").out.split()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (request_id,) = found
    return request_id


def answer_elsewhere(line: CommandLine, request_id: str, word: str) -> None:
    """Answers at another terminal."""
    with at_terminal(line, "approve", request_id, size=TALL) as terminal:
        terminal.answer("", word)
        terminal.ended()


def asked(line: CommandLine) -> list[tuple[str, str, str]]:
    """What the last run was held for, and how it was answered."""
    found = last_record(line)["impact"]["held"]
    return [(each["operation"], each["resource"], each["answer"]) for each in found]


def test_a_yes_at_the_terminal_opens_the_file_to_that_run(line: CommandLine, outside: Path) -> None:
    """It goes on where it was, and the record names the request that opened it."""
    secret = str(outside / "secret.txt")
    with at_terminal(line, *held(), "reads.py", secret, size=TALL) as terminal:
        shown = terminal.see("\n> ")
        assert "it wants to read" in shown
        assert secret in shown
        terminal.type("a\n")
        terminal.see("it says blue")
        assert terminal.ended() == 0, terminal.screen
    assert "asked for while it ran: 1 granted" in terminal.screen
    assert asked(line) == [("read", secret, "granted")]
    [entry] = last_record(line)["impact"]["held"]
    settled = request_of(line, entry["requestId"])
    assert (settled.status, settled.question.kind) == ("approved", "hold")
    # For that run alone: the next one is asked again.
    with at_terminal(line, *held(), "reads.py", secret, size=TALL) as terminal:
        terminal.answer(secret, "d")
        terminal.see("PermissionError")
        terminal.ended()


def test_a_no_at_the_terminal_is_a_refusal(line: CommandLine, outside: Path) -> None:
    """The program gets EACCES, goes on, and is told nothing else."""
    secret = str(outside / "secret.txt")
    with at_terminal(line, *held(), "reads.py", secret, size=TALL) as terminal:
        terminal.answer(secret, "d")
        terminal.see("PermissionError")
        assert terminal.ended() == 0, terminal.screen
    assert "blue" not in terminal.screen
    assert asked(line) == [("read", secret, "refused")]


def test_what_was_granted_before_is_not_asked_for(line: CommandLine, outside: Path) -> None:
    """With the refusal taken away there is no question, and the same program reads it."""
    secret = str(outside / "secret.txt")
    ended = line(*held("--read", secret), "reads.py", secret)
    assert ended.out == "it says blue\n"
    assert asked(line) == []


def test_what_was_typed_before_the_question_is_no_answer(line: CommandLine, outside: Path) -> None:
    """Keys that were meant for the program decide nothing."""
    code = (
        "import sys, time\nprint('ready', flush=True)\nsys.stdin.readline()\ntime.sleep(1)\n"
        + READS
    )
    put(line, "late.py", code)
    secret = str(outside / "secret.txt")
    with at_terminal(line, *held(), "late.py", secret, size=TALL) as terminal:
        terminal.see("ready")
        terminal.type("go\ra\ra\ra\r")
        terminal.see("\n> ")
        request_id = waiting(line)
        assert request_of(line, request_id).is_pending
        terminal.type("d\n")
        terminal.see("PermissionError")
        terminal.ended()
    assert asked(line) == [("read", secret, "refused")]


def test_ctrl_c_denies_and_is_not_the_program_s(line: CommandLine, outside: Path) -> None:
    """The program goes on, without the file and without a signal."""
    secret = str(outside / "secret.txt")
    with at_terminal(line, *held(), "reads.py", secret, size=TALL) as terminal:
        terminal.see("\n> ")
        terminal.type("\x03")
        terminal.see("PermissionError")
        assert terminal.ended() == 0, terminal.screen
    assert asked(line) == [("read", secret, "refused")]


TALKS = """
import sys, threading, time
done = threading.Event()
def talk():
    count = 0
    while not done.is_set():
        print("tick", count, flush=True); count += 1; time.sleep(0.01)
    print("ticked", count, flush=True)
def hear():
    print("heard", repr(sys.stdin.readline()), flush=True)
threads = [threading.Thread(target=each) for each in (talk, hear)]
for each in threads: each.start()
time.sleep(0.3)
try: print("it says", open(sys.argv[1]).read(), flush=True)
except OSError as problem: print(type(problem).__name__, flush=True)
done.set()
for each in threads: each.join()
"""


def test_neither_side_hears_the_other_while_the_question_is_open(
    line: CommandLine, outside: Path
) -> None:
    """Output is held back and comes in full; what is typed is the answer's, then the program's."""
    put(line, "talks.py", TALKS)
    secret = str(outside / "secret.txt")
    with at_terminal(line, *held(), "talks.py", secret, size=TALL) as terminal:
        terminal.see("\n> ")
        before = len(terminal.screen)
        time.sleep(1)
        terminal.type("a\n")
        terminal.see("tick")
        while_open = terminal.screen[before:].partition("tick")[0]
        assert while_open.strip() == "a"
        terminal.see("it says blue")
        terminal.type("hello\r")
        terminal.see("heard 'hello\\n'")
        assert terminal.ended() == 0, terminal.screen
    ticks = [
        int(each.split()[1]) for each in terminal.screen.splitlines() if each.startswith("tick ")
    ]
    assert ticks == list(range(len(ticks)))
    assert f"ticked {len(ticks)}" in terminal.screen


def test_the_program_reads_no_answer_where_only_its_output_leads_elsewhere(
    line: CommandLine, outside: Path
) -> None:
    """Standard input is the terminal that the answer is typed on, and the program has another."""
    put(line, "talks.py", TALKS)
    secret = str(outside / "secret.txt")
    script = f"exec {' '.join(line.program)} exec --hold -- python3 talks.py {secret} > said.txt"
    with at_terminal(line, program=("/bin/sh", "-c", script), size=TALL) as terminal:
        terminal.answer(secret, "a")
        said = line.cwd / "said.txt"
        while "it says" not in said.read_text():
            time.sleep(0.05)
        terminal.type("hello\r")
        assert terminal.ended() == 0, terminal.screen
    assert "heard 'hello\\n'" in said.read_text()


WRITES = """
import sys
open(sys.argv[1], "w").write("written")
print("wrote", flush=True)
input()
"""


def test_a_write_elsewhere_is_on_the_host_at_once_and_says_so(
    line: CommandLine, outside: Path
) -> None:
    """The prompt says it before, the record lists it as `direct`."""
    put(line, "writes.py", WRITES)
    new = outside / "new.txt"
    with at_terminal(line, *held(), "writes.py", str(new), size=TALL) as terminal:
        shown = terminal.see("\n> ")
        assert AT_ONCE in shown
        assert not new.exists()
        terminal.type("a\n")
        terminal.see("wrote")
        assert new.exists()  # the program still runs
        terminal.type("\r")
        assert terminal.ended() == 0, terminal.screen
    assert new.read_text() == "written"
    assert "written to the host at once, by your answer:\n" in terminal.screen
    impact = last_record(line)["impact"]
    [written] = [each for each in impact["filesWritten"] if each["held"] == "direct"]
    assert (written["path"], written["change"], written["truth"]) == (
        str(new),
        "created",
        "mediated",
    )
    assert written["hash"].startswith("sha256:")
    assert any(each["direct"] for each in impact["held"])
    told = line("why").out
    assert "asked for while it ran" in told
    assert "written to the host at once" in told


def test_a_write_beside_the_granted_ones_goes_through_the_layer(line: CommandLine) -> None:
    """The prompt says so; the host is as it was until the run has ended, and then has it."""
    put(line, "writes.py", WRITES)
    new = line.cwd / "new.txt"
    put(line, "out/kept.txt", "kept")
    words = (*held("--write", "out"), "writes.py", "new.txt")
    with at_terminal(line, *words, size=TALL) as terminal:
        shown = terminal.see("\n> ")
        assert "through the layer" in shown
        assert AT_ONCE not in shown
        terminal.type("a\n")
        terminal.see("wrote")
        assert not new.exists()
        terminal.type("\r")
        assert terminal.ended() == 0, terminal.screen
    assert new.read_text() == "written"
    assert asked(line) == [("write", "new.txt", "granted")]
    [entry] = last_record(line)["impact"]["held"]
    assert (entry["throughLayer"], entry["direct"]) == (True, False)


def test_in_a_rehearsal_a_write_to_the_host_is_refused_and_nobody_is_asked(
    line: CommandLine, outside: Path
) -> None:
    """Reads are asked for all the same."""
    code = "import sys\ntry: open(sys.argv[2], 'w')\nexcept OSError: print('refused')\n" + READS
    put(line, "both.py", code)
    secret, new = str(outside / "secret.txt"), outside / "new.txt"
    words = (*held("--rehearse"), "both.py", secret, str(new))
    with at_terminal(line, *words, size=TALL) as terminal:
        shown = terminal.see("\n> ")
        assert "refused" in shown
        assert f"\n  {secret}\n" in shown
        terminal.type("a\n")
        terminal.see("it says blue")
        terminal.ended()
    assert not new.exists()
    assert asked(line) == [("read", secret, "granted")]


@pytest.mark.parametrize(("word", "said"), [("a", "it says blue"), ("d", "PermissionError")])
def test_without_a_terminal_another_process_answers(
    line: CommandLine, outside: Path, word: str, said: str
) -> None:
    """A message names the request and how to answer; the program waits meanwhile."""
    secret = str(outside / "secret.txt")
    running = started(line, *held(), "reads.py", secret, start_new_session=True)
    request_id = waiting(line)
    assert running.poll() is None
    answer_elsewhere(line, request_id, word)
    out, err = running.communicate(timeout=PATIENCE)
    assert out.decode() == f"{said}\n"
    assert f"consentry approve {request_id}\n" in err.decode()
    assert f"consentry deny {request_id}\n" in err.decode()
    [entry] = last_record(line)["impact"]["held"]
    assert entry["requestId"] == request_id


def test_another_process_answers_what_is_asked_on_a_terminal(
    line: CommandLine, outside: Path
) -> None:
    """The prompt ends by itself, says how, and the program goes on."""
    secret = str(outside / "secret.txt")
    with at_terminal(line, *held(), "reads.py", secret, size=TALL) as terminal:
        terminal.see("\n> ")
        request_id = waiting(line)
        answer_elsewhere(line, request_id, "a")
        terminal.see("it says blue")
        assert terminal.ended() == 0, terminal.screen
    assert f"`{request_id}` was approved by" in terminal.screen


def test_no_answer_in_time_is_a_refusal_of_its_own(line: CommandLine, outside: Path) -> None:
    """The deadline is the one of escalations; the record says that nobody answered."""
    document = {"approvals": {"deadlines": {"escalation": "1s"}}}
    write(line, config_of(line) / "settings.yaml", json.dumps(document))
    secret = str(outside / "secret.txt")
    ended = line(*held(), "reads.py", secret)
    assert ended.out == "PermissionError\n"
    assert "asked for while it ran: 1 not answered in time" in ended.err
    assert asked(line) == [("read", secret, "expired")]
    kinds = [each["type"] for each in events_of(line) if each["type"].startswith("approval.")]
    assert kinds == ["approval.requested", "approval.expired"]


def test_questions_end_with_the_run(line: CommandLine, outside: Path) -> None:
    """A limit ends it while the prompt is open: the terminal is usable, the question superseded."""
    secret = str(outside / "secret.txt")
    words = (*held("--timeout", "2s"), "reads.py", secret)
    with at_terminal(line, *words, size=TALL) as terminal:
        terminal.see("\n> ")
        request_id = waiting(line)
        assert terminal.ended() == 124, terminal.screen
    assert request_of(line, request_id).status == "superseded"
    assert asked(line) == [("read", secret, "gone")]


def test_what_a_program_says_last_is_shown_although_it_was_asked_about(
    line: CommandLine, outside: Path
) -> None:
    """It ends while one of its threads waits: its output comes, the prompt goes."""
    code = (
        "import os, sys, threading, time\n"
        "threading.Thread(target=open, args=(sys.argv[1],)).start()\n"
        "time.sleep(1); print('last', 'words', flush=True); os._exit(3)\n"
    )
    put(line, "leaves.py", code)
    secret = str(outside / "secret.txt")
    with at_terminal(line, *held(), "leaves.py", secret, size=TALL) as terminal:
        terminal.see("\n> ")
        assert terminal.ended() == 3, terminal.screen
    assert "last words" in terminal.screen
    assert asked(line) == [("read", secret, "gone")]


def test_questions_end_with_whoever_put_them(line: CommandLine, outside: Path) -> None:
    """Killed outright, nothing is left to be opened: whoever looks next finds it over."""
    secret = str(outside / "secret.txt")
    running = started(line, *held(), "reads.py", secret, start_new_session=True)
    request_id = waiting(line)
    running.kill()
    running.communicate(timeout=PATIENCE)
    assert line("inbox", "--quiet").out == ""
    settled = request_of(line, request_id)
    assert settled.status == "superseded"
    assert settled.answer is not None
    assert settled.answer.reason == "the process that asked has ended"
    with at_terminal(line, "approve", request_id, size=TALL) as terminal:
        assert terminal.ended() != 0, terminal.screen


def test_a_signal_still_ends_a_program_that_waits(line: CommandLine, outside: Path) -> None:
    """What is sent to the command is the program's, asked about or not."""
    secret = str(outside / "secret.txt")
    with at_terminal(line, *held(), "reads.py", secret, size=TALL) as terminal:
        terminal.see("\n> ")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM, terminal.screen


def test_a_hostile_name_draws_nothing_of_its_own(line: CommandLine, outside: Path) -> None:
    """Escapes and line feeds in a path are shown as what they are."""
    name = "x\x1b[2J\nit wants to read nothing\u202e"
    (outside / name).write_text("blue")
    put(line, "names.py", f"open({str(outside / name)!r})\n")
    with at_terminal(line, *held(), "names.py", size=TALL) as terminal:
        shown = terminal.see("\n> ").partition("it wants to read")[2]
        terminal.type("d\n")
        terminal.ended()
    assert "\\u{1b}[2J" in shown
    assert "\u202e" not in shown
    assert "\x1b[2J" not in shown
    assert "\nit wants" not in shown


def test_questions_come_one_after_another(line: CommandLine, outside: Path) -> None:
    """Two threads ask at once; the second prompt is drawn when the first is answered."""
    (outside / "other.txt").write_text("green")
    code = (
        "import sys, threading\n"
        "def read(path):\n"
        "    try: print('it says', open(path).read(), flush=True)\n"
        "    except OSError: print('refused', flush=True)\n"
        "threads = [threading.Thread(target=read, args=(each,)) for each in sys.argv[1:]]\n"
        "for each in threads: each.start()\n"
        "for each in threads: each.join()\n"
    )
    put(line, "two.py", code)
    files = [str(outside / name) for name in ("secret.txt", "other.txt")]
    with at_terminal(line, *held(), "two.py", *files, size=TALL) as terminal:
        for _ in files:
            shown = terminal.see("\n> ")
            assert shown.count("it wants to read") == 1
            terminal.type("a\n" if f"\n  {files[0]}\n" in shown else "d\n")
        assert terminal.ended() == 0, terminal.screen
    assert "it says blue" in terminal.screen
    assert "green" not in terminal.screen
    assert sorted(each[2] for each in asked(line)) == ["granted", "refused"]


REFUSED = {
    "the private view": ("--view", "private"),
    "attested denials": ("--attest",),
    "another engine": ("--engine", "bubblewrap"),
    "an engine of its own": ("--engine", "deno"),
    "an image": ("--image", "python:3"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_holds_nothing_is_refused_before_it_runs(consentry: CommandLine, what: str) -> None:
    """One clear message with its own code, and nothing ran."""
    ended = consentry("exec", "--hold", *REFUSED[what], "--", "true")
    assert_error(ended, Code.HOLD_REFUSED)


def test_an_ordinary_user_is_asked_too(as_nobody: CommandLine, outside: Path) -> None:
    """Without any power of root."""
    put(as_nobody, "reads.py", READS)
    secret = str(outside / "secret.txt")
    running = started(as_nobody, *held(), "reads.py", secret, start_new_session=True)
    answer_elsewhere(as_nobody, waiting(as_nobody), "a")
    out, err = running.communicate(timeout=PATIENCE)
    assert out == b"it says blue\n", err


def test_what_was_written_at_once_is_on_record_although_the_command_was_killed(
    line: CommandLine, outside: Path
) -> None:
    """The next one to start says what was asked and answered; whether a yes was used is observed."""
    put(line, "writes.py", WRITES + READS.replace("sys.argv[1]", "sys.argv[2]"))
    new, secret = str(outside / "new.txt"), str(outside / "secret.txt")
    with at_terminal(line, *held(), "writes.py", new, secret, size=TALL) as terminal:
        terminal.answer(new, "a")
        terminal.see("wrote")
        terminal.type("\r")
        terminal.answer(secret, "")
        terminal.process.kill()
        terminal.ended()
    assert line("exec", "--", "true").status == 0
    lost = json.loads(line("why", run_of(line, "python3"), "--json").out)["run"]
    told = [(each["resource"], each["answer"], each["direct"]) for each in lost["impact"]["held"]]
    assert told == [(new, "granted", True), (secret, "gone", False)]
    assert (outside / "new.txt").exists()
    assert [each["truth"] for each in lost["impact"]["held"]] == ["observed", "mediated"]


def run_of(line: CommandLine, name: str) -> str:
    """The id of the last run of that program."""
    entries = [each["payload"] for each in events_of(line) if each["type"] == "tool.audit"]
    return str([each["id"] for each in entries if each["tool"]["name"] == name][-1])
