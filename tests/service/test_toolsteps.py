"""Several commands of a manifest run in order, in one box, under one permit and one record."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.enforce.engines.native import Io
from tests.elsewhere import folder_elsewhere
from tests.service.conftest import MakeAround
from tests.service.toolplaces import PATH, OtherPlace, OwnPlace, others_place

Place = OwnPlace | OtherPlace


@pytest.fixture
def own(around: MakeAround, project: Path) -> OwnPlace:
    """Tools of whoever runs the tests."""
    return OwnPlace(around(environ=PATH), project)


@pytest.fixture(params=["as we are", "as an ordinary user"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Tools of whoever runs the tests, and of an ordinary user."""
    if request.param == "as we are":
        yield request.getfixturevalue("own")
        return
    with others_place() as found:
        yield found


@pytest.fixture(params=["as we are", "as an ordinary user"])
def apart(request: pytest.FixtureRequest, around: MakeAround) -> Iterator[Place]:
    """The same with a workspace that does not lie below a folder of the run's own."""
    with folder_elsewhere() as folder:
        folder.chmod(0o755)
        if request.param == "as we are":
            (folder / "project").mkdir()
            yield OwnPlace(around(folder / "project", environ=PATH), folder / "project")
            return
        with others_place(folder) as found:
            yield found


def sh(script: str) -> dict[str, Any]:
    """A command that is a line of shell."""
    return {"command": "sh", "arguments": ["-c", script], "purpose": "a step"}


def cat(*names: str) -> dict[str, Any]:
    """A command that prints files."""
    return {"command": "cat", "arguments": list(names), "purpose": "a step"}


EVERYTHING = [{"pattern": "./", "purpose": "all of it"}]


def test_commands_run_in_order_in_one_box(place: Place) -> None:
    """What the first one wrote the second one reads; one permit, one entry (CONTRACTS §7)."""
    steps = [sh("echo one > made; echo kept > /tmp/own; echo first"), cat("made", "/tmp/own")]
    place.tool("two", fileRead=EVERYTHING, fileWrite=EVERYTHING, processExecution=steps)
    told = place.told("two")
    assert told.out == "first\none\nkept\n"
    entry = told.entry
    assert (entry["execution"]["status"], entry["execution"]["exitCode"]) == ("success", 0)
    assert entry["tool"]["arguments"] == [
        "sh -c 'echo one > made; echo kept > /tmp/own; echo first'",
        "cat made /tmp/own",
    ]
    assert [each["path"] for each in entry["impact"]["filesWritten"]] == ["made"]
    assert (place.project / "made").read_text() == "one\n"
    started = {each["path"]: each["times"] for each in entry["sandbox"]["programs"]}
    assert {os.path.realpath("/usr/bin/sh"), os.path.realpath("/usr/bin/cat")} <= set(started)


@pytest.mark.parametrize(
    ("line", "status", "code", "signal"),
    [("exit 3", "failure", 3, None), ("kill -9 $$", "killed", None, 9)],
)
def test_the_first_that_fails_is_the_last(
    place: Place, line: str, status: str, code: int | None, signal: int | None
) -> None:
    """The run ends as that command did; the others never start (CONTRACTS §7)."""
    steps = [sh("echo one"), sh(f"echo two; {line}"), sh("echo three > made; echo three")]
    place.tool("three", fileRead=EVERYTHING, fileWrite=EVERYTHING, processExecution=steps)
    told = place.told("three")
    assert told.out == "one\ntwo\n"
    execution = told.entry["execution"]
    assert (execution["exitCode"], execution["signal"]) == (code, signal)
    assert execution["status"] == status
    assert not (place.project / "made").exists()


def test_the_same_command_may_run_twice(place: Place) -> None:
    """As LaTeX needs it."""
    steps = [sh("echo x >> log"), sh("echo x >> log"), cat("log")]
    place.tool("again", fileRead=EVERYTHING, fileWrite=EVERYTHING, processExecution=steps)
    assert place.told("again").out == "x\nx\n"


def test_each_step_is_held_to_the_same_surface(place: Place) -> None:
    """What the manifest does not list is closed to the last command as to the first."""
    (place.project / "secret").write_text("secret")
    (place.project / "open").write_text("open ")
    steps = [cat("open"), sh("cat open; cat secret"), sh("true")]
    place.tool(
        "held",
        fileRead=[{"pattern": "open", "purpose": "p"}],
        processExecution=[cat("open"), {**steps[1]}],
    )
    told = place.told("held")
    assert "secret" not in told.out.replace("cat: secret", "")
    assert told.out.startswith("open open ")
    assert ("read", str(place.project / "secret")) in [each[:2] for each in told.denied]


def test_programs_that_the_steps_do_not_name_are_not_started(place: Place) -> None:
    """Every step may start what a step names, and nothing else."""
    place.tool("only", processExecution=[sh("cat /dev/null && echo cat; env; echo end")])
    with_cat = [sh("cat /dev/null && echo cat; env; echo end"), cat("/dev/null")]
    place.tool("more", processExecution=with_cat)
    assert "cat\n" not in place.told("only").out.splitlines(keepends=True)
    assert "cat\n" in place.told("more").out.splitlines(keepends=True)
    assert ("run", os.path.realpath("/usr/bin/env")) in [
        each[:2] for each in place.told("more").denied
    ]


def test_what_is_left_in_the_background_ends_before_the_next_command(own: OwnPlace) -> None:
    """Each begins alone, and the run waits for nothing that was left."""
    # Whoever reaps it may take a moment; what is not ended is there for a thousand seconds.
    looks = "read pid < pid; while kill -0 $pid; do sleep 0.1; done; echo gone"
    steps = [sh("sleep 1000 & echo $! > pid"), sh(looks)]
    sleeps = {"command": "sleep", "arguments": ["0"], "purpose": "what the others start"}
    own.tool("left", fileRead=EVERYTHING, fileWrite=EVERYTHING, processExecution=[*steps, sleeps])
    run = own.run("left")
    assert (run.outcome.stdout, run.status) == (b"gone\n", "success")


def test_the_process_that_starts_them_is_out_of_reach(own: OwnPlace) -> None:
    """A command can neither read nor write the memory of the process that starts the next one."""
    look = "cat /proc/$PPID/environ > /dev/null; echo $?; echo x > /proc/$PPID/mem; echo $?"
    own.tool("looks", processExecution=[sh(look), sh(look), cat("/dev/null")])
    lines = own.run("looks").outcome.stdout.decode().split()
    assert len(lines) == 4
    assert "0" not in lines


def test_limits_hold_over_all_steps(own: OwnPlace) -> None:
    """Time is counted for the whole run, and the sequence itself takes none of the processes."""
    own.profile("slow", filesystem={"readOnly": ["${WORKSPACE}"]}, timeout="700ms")
    steps = [sh("sleep 0.5"), sh("sleep 0.5"), sh("echo late")]
    sleeps = {"command": "sleep", "arguments": ["0"], "purpose": "what the others start"}
    own.tool("late", processExecution=[*steps, sleeps], sandboxRequirements={"profile": "slow"})
    run = own.run("late")
    assert (run.status, run.outcome.stdout) == ("timeout", b"")
    own.profile("few", filesystem={"readOnly": ["${WORKSPACE}"]}, resources={"maxProcesses": 1})
    own.tool(
        "few",
        processExecution=[sh("echo one"), sh("echo two")],
        sandboxRequirements={"profile": "few"},
    )
    assert own.run("few").outcome.stdout == b"one\ntwo\n"


def test_an_engine_that_cannot_refuses_and_says_so(own: OwnPlace) -> None:
    """Nothing runs, and the refusal is on record with what would help."""
    (own.config).mkdir(parents=True)
    (own.config / "sandbox-config.yaml").write_text("sandboxConfig: {engine: bubblewrap}")
    own.tool("two", processExecution=[sh("echo one"), sh("echo two")])
    with pytest.raises(ConsentryError, match="one after the other") as raised:
        own.run("two")
    assert raised.value.code is Code.NOT_ENFORCEABLE
    assert "entrypoint" in str(raised.value.help_line)
    entry = own.entries()[-1]
    assert (entry["tool"]["name"], entry["execution"]["status"]) == ("two", "denied")
    (own.config / "sandbox-config.yaml").write_text("sandboxConfig: {engine: native}")
    assert own.run("two").outcome.stdout == b"one\ntwo\n"


def test_a_first_program_that_does_not_start_is_told_as_such(own: OwnPlace) -> None:
    """As with a single command: the run is on record, and says why."""
    bad = own.project / "bad"
    bad.write_bytes(b"\x7fELF not really")
    bad.chmod(0o755)
    own.tool(
        "bad",
        fileRead=EVERYTHING,
        processExecution=[{"command": "./bad", "arguments": [], "purpose": "p"}, sh("echo two")],
    )
    with pytest.raises(ConsentryError) as raised:
        own.run("bad")
    assert raised.value.code is Code.PROGRAM_UNSTARTABLE
    assert own.entries()[-1]["execution"]["problem"]["code"] == "program-unstartable"


def test_a_later_program_that_does_not_start_ends_the_run(own: OwnPlace) -> None:
    """With the status that a shell gives it."""
    bad = own.project / "bad"
    bad.write_bytes(b"\x7fELF not really")
    bad.chmod(0o755)
    broken = {"command": "./bad", "arguments": [], "purpose": "p"}
    own.tool("bad", fileRead=EVERYTHING, processExecution=[sh("echo one"), broken, sh("echo 3")])
    run = own.run("bad")
    assert (run.outcome.exit_code, run.outcome.stdout) == (126, b"one\n")


@pytest.mark.parametrize(
    ("line", "said", "number"),
    [
        ("trap 'echo caught; exit 0' TERM; echo one; while :; do :; done", "one\ncaught\n", 15),
        ("echo one; while :; do :; done", "one\n", 15),
    ],
)
def test_a_signal_reaches_the_command_and_nothing_comes_after_it(
    own: OwnPlace, line: str, said: str, number: int
) -> None:
    """Also where the command takes it and ends well: the run was told to end."""
    own.tool("waits", processExecution=[sh(line), sh("echo two")])
    reader, writer = os.pipe()
    io = Io(stdout=writer)
    with ThreadPoolExecutor(1) as pool, os.fdopen(reader, "rb") as output:
        going = pool.submit(own.run, "waits", io=io)
        first = output.readline()
        assert io.supervisor is not None
        io.supervisor.pass_signal(signal.SIGTERM)
        run = going.result()
        os.close(writer)
        assert (first + output.read()).decode() == said
    assert run.outcome.signal == number
    assert own.entries()[-1]["execution"]["status"] == "killed"


@pytest.mark.parametrize(
    "ways",
    [{"reads": "exact"}, {"writes": "direct"}, {"view": "visible"}, {"layer": "disk"}],
    ids=lambda ways: next(iter(ways.values())),
)
def test_commands_run_in_order_whatever_the_box_is_like(apart: Place, ways: dict[str, str]) -> None:
    """What looks after the run from outside reaches every one of them."""
    (apart.project / "in.txt").write_text("in ")
    (apart.project / "out").mkdir()
    files = {"readOnly": ["${WORKSPACE}/in.txt"], "readWrite": ["${WORKSPACE}/out"]}
    apart.profile("boxed", filesystem=files, **ways)
    steps = [sh("cat in.txt; echo one > out/made"), sh("cat in.txt out/made"), cat("in.txt")]
    apart.tool(
        "boxed",
        fileRead=[{"pattern": "in.txt", "purpose": "p"}],
        fileWrite=[{"pattern": "out/", "purpose": "p"}],
        processExecution=steps,
        sandboxRequirements={"profile": "boxed"},
    )
    told = apart.told("boxed")
    assert told.code is None
    assert told.out == "in in one\nin "
    assert (apart.project / "out/made").read_text() == "one\n"
    assert {"in.txt"} <= {each["path"] for each in told.entry["impact"]["filesRead"]}
