"""Turning the sandbox off: by words, by variables, by what the host lacks, by the tool's request."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import consentry
from tests.enforce import hosts
from tests.enforce.attacks.attackers import Attacker, as_user

FOLDER = "/tmp"
"""Where a workspace may be; below `/var` the command line grants nothing."""

_SOURCE = Path(consentry.__file__).parents[1]


def _exec(
    attacker: Attacker,
    *words: str,
    before: Callable[[], None] | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> "subprocess.CompletedProcess[str]":
    """The command line as this user."""
    own = attacker.uid == os.getuid()
    home = attacker.place / "home"
    home.mkdir(exist_ok=True)
    attacker.own(home)
    packages = [path for path in sys.path if path.endswith("site-packages")]
    path = os.pathsep.join([str(_SOURCE), *packages])
    started: dict[str, Any] = as_user(attacker.uid)
    return subprocess.run(
        [sys.executable if own else "/usr/bin/python3", "-B", "-m", "consentry", "exec", *words],
        env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": str(home), **environ},
        cwd=attacker.ws,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=before,
        **started,
    )


READ = "cat {} && echo READ-IT"
WORDS = ("--no-sandbox", "--exec", "any", "--read", "/", "--engine", "none", "--write", "/")


def test_words_after_the_dashes_are_the_programs(attacker: Attacker) -> None:
    """They look like options and grant nothing; the program gets them as they are."""
    secret = attacker.put("outside/secret")
    script = f"{READ.format(secret)}; echo $*"
    ended = _exec(attacker, "--exec", "any", "--", "sh", "-c", script, "sh", *WORDS)
    assert "SECRET" not in ended.stdout
    assert " ".join(WORDS) in ended.stdout


def test_unknown_options_start_nothing(attacker: Attacker) -> None:
    """There is no word that runs a program without a box."""
    for words in (["--no-sandbox"], ["--unsafe"], ["--engine", "none"], ["--set", "trusted"]):
        ended = _exec(attacker, *words, "--", "sh", "-c", "echo RAN; touch ran")
        assert ended.returncode != 0, words
        assert "RAN" not in ended.stdout


VARIABLES = {
    "CONSENTRY_SANDBOX": "off",
    "CONSENTRY_DISABLE": "1",
    "CONSENTRY_ENGINE": "none",
    "CONSENTRY_SET": "trusted",
    "NO_SANDBOX": "1",
    "LD_PRELOAD": "/nonexistent/evil.so",
    "LD_LIBRARY_PATH": "/nonexistent",
    "PYTHONSTARTUP": "/nonexistent/evil.py",
    "BASH_ENV": "/nonexistent/evil.sh",
    "ENV": "/nonexistent/evil.sh",
}


def test_no_variable_turns_it_off_or_gets_in(attacker: Attacker) -> None:
    """The file stays hidden, and the program sees none of the names."""
    secret = attacker.put("outside/secret")
    script = f"{READ.format(secret)}; env"
    ended = _exec(attacker, "--exec", "any", "--", "sh", "-c", script, environ=VARIABLES)
    assert "SECRET" not in ended.stdout
    names = {line.partition("=")[0] for line in ended.stdout.splitlines()}
    assert not names & set(VARIABLES)
    assert "PATH" in names


def test_what_is_granted_is_read(attacker: Attacker) -> None:
    """The same line with the workspace around the file."""
    attacker.put("ws/mine", "MINE")
    ended = _exec(attacker, "--exec", "any", "--", "sh", "-c", READ.format("mine"))
    assert ended.stdout == "MINEREAD-IT\n"


def test_the_line_without_a_box_reads_it(attacker: Attacker) -> None:
    """So that it is the box which keeps it."""
    secret = attacker.put("outside/secret")
    done = subprocess.run(
        ["/bin/sh", "-c", READ.format(secret)],
        capture_output=True,
        check=True,
        **as_user(attacker.uid),
    )
    assert done.stdout == b"SECRETREAD-IT\n"


@pytest.mark.parametrize(
    "before", [hosts.behind_a_filter, hosts.with_covered_proc], ids=["namespaces", "proc"]
)
def test_where_the_host_refuses_nothing_is_started(
    attacker: Attacker, before: Callable[[], None]
) -> None:
    """A missing feature is an error that names it, and never a run without it."""
    if before is hosts.with_covered_proc and attacker.uid == 0:
        pytest.skip("root enters no user namespace of its own here")
    ended = _exec(attacker, "--", "sh", "-c", "echo RAN", before=before)
    assert ended.returncode != 0
    assert "RAN" not in ended.stdout
    assert "operation not permitted" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_programs_own_request_changes_nothing(attacker: Attacker) -> None:
    """Words in its output, a file of settings, or starting the product again inside: no effect."""
    secret = attacker.put("outside/secret")
    attacker.put("ws/.consentry/config.yaml", "sandbox: off\n")
    script = (
        'echo \'{"requestEscalation": "trusted", "sandbox": false}\';'
        f" mkdir -p .consentry; echo 'isolateFileSystem: false' > .consentry/x; {READ.format(secret)}"
    )
    ended = _exec(attacker, "--exec", "any", "--write", "./", "--", "sh", "-c", script)
    assert "SECRET" not in ended.stdout
    assert not (attacker.ws / ".consentry/x").exists()
