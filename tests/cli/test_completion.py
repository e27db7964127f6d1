"""Shell completion, in the shells themselves."""

import fcntl
import json
import os
import pty
import shlex
import shutil
import subprocess
import termios
from pathlib import Path

import pytest

from consentry.cli.root import make_root
from tests.cli.conftest import PROGRAM, CommandLine, Ended

SHELLS = ("bash", "zsh", "fish")
COMMANDS = list(make_root().rows)


@pytest.fixture
def on_path(consentry: CommandLine, tmp_path: Path) -> CommandLine:
    """The command with a `consentry` on PATH that shells can call."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "consentry"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    consentry.environ["PATH"] = f"{folder}:{consentry.environ['PATH']}"
    return consentry


def _shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not on PATH")
    return found


def _bash(on_path: CommandLine, *words: str) -> list[str]:
    """What bash would offer for the last of `words`, through the function the script defines."""
    script = f"""
        eval "$(consentry completion bash)"
        complete -p consentry >&2
        COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
        _consentry_completion consentry
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        [_shell("bash"), "--norc", "-c", script],
        cwd=on_path.cwd,
        env=on_path.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "complete -o nosort -F _consentry_completion consentry\n"
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["consentry", "st"], ["status"]),
        (["consentry", ""], COMMANDS),
        (["consentry", "status", "--w"], ["--workspace"]),
        (["consentry", "--js"], ["--json"]),
        (["consentry", "explain", "state-"], ["state-refused", "state-unsafe", "state-unusable"]),
        (["consentry", "completion", ""], ["bash", "zsh", "fish"]),
        (["consentry", "--color", "a"], ["auto", "always"]),
        (
            ["consentry", "audit", ""],
            [
                *("log", "show", "checkpoint", "verify", "proof", "export", "backup"),
                *("retain", "rebuild"),
            ],
        ),
        (["consentry", "audit", "ve"], ["verify"]),
        (["consentry", "session", ""], ["list", "end"]),
        (["consentry", "frobnicate", ""], COMMANDS),
    ],
)
def test_bash_completes(on_path: CommandLine, words: list[str], expected: list[str]) -> None:
    """Commands, options, words of the product and values, from the real script in a real bash."""
    assert _bash(on_path, *words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["consentry", "run", ""], ["lint", "list-all"]),
        (["consentry", "run", "list"], ["list-all"]),
        (["consentry", "run", "lint", ""], []),
        (["consentry", "tool", "show", "lin"], ["lint"]),
    ],
)
def test_tools_are_completed_by_their_names(
    on_path: CommandLine, words: list[str], expected: list[str]
) -> None:
    """No document is opened, and a file that is called as no tool can be never reaches the shell."""
    folder = on_path.cwd / ".consentry/tools"
    folder.mkdir(parents=True)
    for name in ("lint", "list-all", "li$(touch x)", "li\nst", "li\x1b", "li nt"):
        (folder / f"{name}.yaml").write_text("not a manifest")
    assert [word for word in _bash(on_path, *words) if word] == expected


def test_fish_completes(on_path: CommandLine) -> None:
    """Fish is asked for its own list of completions."""
    script = 'consentry completion fish | source; complete -C "consentry st"'
    done = subprocess.run(
        [_shell("fish"), "--no-config", "-c", script],
        cwd=on_path.cwd,
        env=on_path.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\t")[0].strip() == "status"


@pytest.mark.parametrize(
    ("shell", "start"),
    [
        ("bash", ["--norc", "--noprofile", "-i"]),
        ("zsh", ["-f", "-i"]),
    ],
)
def test_a_person_presses_tab(on_path: CommandLine, shell: str, start: list[str]) -> None:
    """In an interactive shell on a terminal the word is completed and the command runs."""
    program = _shell(shell)
    prepare = "autoload -Uz compinit; compinit -u -D; " if shell == "zsh" else ""
    install = f'{prepare}eval "$(consentry completion {shell})"; PS1="rea""dy> "\n'
    master, terminal = pty.openpty()
    child = subprocess.Popen(
        [program, *start],
        cwd=on_path.cwd,
        env={**on_path.environ, "TERM": "dumb"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - only a system call, no lock can be held
    )
    os.close(terminal)
    try:
        os.write(master, install.encode())
        _read_until(master, b"ready> ")
        os.write(master, b"consentry expl\t")
        _read_until(master, b"explain")
        os.write(master, b"126 --quiet\n")
        _read_until(master, b"denied: consent")
        os.write(master, b"exit\n")
        child.wait()
    finally:
        os.close(master)


def _take_terminal() -> None:
    """Makes the terminal on standard input the one that controls this session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read_until(master: int, wanted: bytes) -> None:
    seen = b""
    while wanted not in seen:
        seen += os.read(master, 4096)


@pytest.mark.parametrize("shell", SHELLS)
def test_script_is_printed_bare(consentry: CommandLine, shell: str) -> None:
    """Nothing but the script, whatever else is asked for; `--json` wraps it."""
    plain = consentry("completion", shell)
    assert (plain.status, plain.err) == (0, "")
    assert "_CONSENTRY_COMPLETE" in plain.out
    assert consentry("--quiet", "completion", shell) == plain
    assert consentry("--verbose", "completion", shell) == plain
    document = json.loads(consentry("completion", shell, "--json").out)
    assert (document["kind"], document["shell"]) == ("completion", shell)
    assert document["script"] == plain.out


def test_unknown_shell_gets_a_suggestion(consentry: CommandLine) -> None:
    """The nearest shell that is known."""
    ended = consentry("completion", "bahs")
    assert ended.status == 2
    assert ended.err.endswith("help: did you mean `bash`?\n")


def test_variable_cannot_turn_a_command_into_nothing(consentry: CommandLine) -> None:
    """Set by whomever, it is honoured only when nothing was typed.

    The attack: an environment that makes every command answer with completions and status 0.
    """
    attack = {"_CONSENTRY_COMPLETE": "bash_complete", "COMP_WORDS": "consentry ", "COMP_CWORD": "1"}
    assert consentry("statsu", **attack).status == 2
    assert consentry("--version", **attack).out.startswith("consentry ")
    assert consentry(**attack).out.split() == [f"plain,{word}" for word in COMMANDS]


@pytest.mark.parametrize(
    "environ",
    [
        {"_CONSENTRY_COMPLETE": "bash_source"},
        {"_CONSENTRY_COMPLETE": "powershell_complete"},
        {"_CONSENTRY_COMPLETE": "bash_complete"},
        {"_CONSENTRY_COMPLETE": "bash_complete", "COMP_WORDS": "consentry", "COMP_CWORD": "x"},
        {"_CONSENTRY_COMPLETE": "\x1b[31m"},
    ],
)
def test_malformed_request_is_wrong_usage(consentry: CommandLine, environ: dict[str, str]) -> None:
    """What no script of ours would send is refused, and shown harmless."""
    ended = consentry(**environ)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("consentry: error[usage]: _CONSENTRY_COMPLETE is ")
    assert "\x1b" not in ended.err


def test_closed_output_while_completing(consentry: CommandLine) -> None:
    """A shell that went away is no reason for a traceback."""
    environ = {"_CONSENTRY_COMPLETE": "bash_complete", "COMP_WORDS": "consentry", "COMP_CWORD": "1"}
    ended = consentry.in_shell("consentry >&-", **environ)
    assert isinstance(ended, Ended)
    assert ended.status == 125
