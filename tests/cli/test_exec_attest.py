"""`consentry exec --attest`: denials that the kernel vouches for, counted against its own number."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.enforce.native import audithost
from consentry.enforce.native.audithost import PLACE, read_state
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import home_of, last_record, put, started
from tests.enforce.audits import audit_alone
from tests.enforce.shownfolders import made_folder, shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)
OPTIONS = ("exec", "--view", "visible", "--attest")
ASKS = "import os, sys\nfor path in sys.argv[2:]:\n for _ in range(int(sys.argv[1])):\n  "
ASKS += "try: os.open(path, os.O_RDONLY)\n  except PermissionError: pass\n"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the view shows, while nobody else uses the host's audit."""
    with audit_alone(), made_folder(os.getuid()) as made:
        before = read_state()
        yield made
        assert read_state() == before


@pytest.fixture
def rooted(consentry: CommandLine, place: Path) -> CommandLine:
    """The command of root, with a project in sight and a file beside it."""
    (place / "project").mkdir()
    (place / "project/.git").mkdir()
    consentry.cwd = place / "project"
    put(consentry, str(place / "secret"), "secret")
    return consentry


def _written_at() -> int | None:
    return PLACE.stat().st_mtime_ns if PLACE.exists() else None


def _denials(sandbox: dict[str, Any]) -> list[dict[str, str]]:
    return [each for each in sandbox["controls"] if each["control"] == "denials"]


def test_what_landlock_refuses_is_attested(rooted: CommandLine) -> None:
    """Files, folders and programs that are in sight, each as often as it was tried."""
    secret = rooted.cwd.parent / "secret"
    program = put(rooted, str(rooted.cwd.parent / "program"), "", 0o755)
    shutil.copyfile("/usr/bin/true", program)
    script = f"{ASKS}\ntry: os.execv({str(program)!r}, ['x'])\nexcept PermissionError: pass\n"
    words = ["--", "python3", "-I", "-c", script, "3", str(secret), str(secret.parent)]
    ended = rooted(*OPTIONS, *words)
    assert ended.status == 0, ended.err
    sandbox = last_record(rooted)["sandbox"]
    found = {
        (each["operation"], each["resource"]): (each["truth"], each["times"])
        for each in sandbox["violations"]
    }
    assert found == {
        ("read", str(secret)): ("kernel", 3),
        ("read", str(secret.parent)): ("kernel", 3),
        ("run", str(program)): ("kernel", 1),
    }
    assert sandbox["violationsComplete"]
    assert {each["mechanism"] for each in _denials(sandbox)} == {
        "a seccomp observer",
        "Landlock's audit records",
    }
    assert f"read {secret} (3 times): not granted; allow it with --read {secret}" in ended.err


def test_a_run_without_denials_says_so_by_the_kernels_word(rooted: CommandLine) -> None:
    """An empty list that is complete."""
    assert rooted(*OPTIONS, "--", "true").status == 0
    sandbox = last_record(rooted)["sandbox"]
    assert sandbox["violations"] == []
    assert sandbox["violationsComplete"]


def test_without_asking_nothing_is_attested_and_audit_is_not_touched(rooted: CommandLine) -> None:
    """The same run without the option: observed, and nothing is noted about the host's audit."""
    before = _written_at()
    secret = rooted.cwd.parent / "secret"
    words = ["--", "python3", "-I", "-c", ASKS, "1", str(secret)]
    assert rooted("exec", "--view", "visible", *words).status == 0
    [violation] = last_record(rooted)["sandbox"]["violations"]
    assert (violation["resource"], violation["truth"]) == (str(secret), "observed")
    assert _written_at() == before


def test_what_others_refuse_stays_observed(rooted: CommandLine) -> None:
    """A read-only mount and the modes of files answer before Landlock does."""
    closed = put(rooted, str(rooted.cwd.parent / "closed"), "x", 0o600)
    secret = rooted.cwd.parent / "secret"
    script = f"echo x > {secret}; read line < {closed}"
    rooted(*OPTIONS, "--", "sh", "-c", script)
    sandbox = last_record(rooted)["sandbox"]
    found = {(each["resource"], each["truth"]) for each in sandbox["violations"]}
    assert found == {(str(secret), "observed"), (str(closed), "observed")}
    assert sandbox["violationsComplete"]


def test_five_thousand_in_a_burst(rooted: CommandLine) -> None:
    """All of them, or the record says that some are missing and how many."""
    secret = rooted.cwd.parent / "secret"
    words = ["--", "python3", "-I", "-c", ASKS, "5000", str(secret)]
    assert rooted(*OPTIONS, *words).status == 0
    sandbox = last_record(rooted)["sandbox"]
    [violation] = sandbox["violations"]
    [records] = [each["mechanism"] for each in _denials(sandbox) if each["truth"] == "kernel"]
    assert violation["resource"] == str(secret)
    if sandbox["violationsComplete"]:
        assert (violation["truth"], violation["times"]) == ("kernel", 5000)
        assert records == "Landlock's audit records"
    else:
        assert records.startswith("Landlock's audit records, incomplete: ")


def test_runs_at_the_same_time_are_told_apart(rooted: CommandLine) -> None:
    """Each has its own denials, and the settings are put back by whichever ends last."""
    secrets = [put(rooted, str(rooted.cwd.parent / f"secret{n}"), "x") for n in range(3)]

    def run(number: int) -> Any:
        words = ["--", "python3", "-I", "-c", ASKS, str(number + 1), str(secrets[number])]
        return json.loads(rooted("--json", *OPTIONS, *words).out)["run"]["sandbox"]

    with ThreadPoolExecutor(3) as pool:
        sandboxes = list(pool.map(run, range(3)))
    for number, sandbox in enumerate(sandboxes):
        [violation] = sandbox["violations"]
        assert (violation["resource"], violation["truth"]) == (str(secrets[number]), "kernel")
        assert violation["times"] == number + 1
        assert sandbox["violationsComplete"]


def test_audit_turned_off_meanwhile_is_told_as_incomplete(rooted: CommandLine) -> None:
    """The kernel counts on and writes nothing more: the list does not pass for whole."""
    secret = rooted.cwd.parent / "secret"
    script = f"cat {secret}; echo ready; read line; cat {secret}"
    words = [*OPTIONS, "--exec", "cat", "--", "sh", "-c", script]
    with started(rooted, *words, stdin=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        assert running.stdout.readline() == b"ready\n"
        audithost._set(audithost._ENABLED, enabled=0)
        running.stdin.write(b"on\n")
        running.stdin.close()
        running.wait()
    sandbox = last_record(rooted)["sandbox"]
    assert not sandbox["violationsComplete"]
    [records] = [each["mechanism"] for each in _denials(sandbox) if each["truth"] == "kernel"]
    assert records.startswith("Landlock's audit records, incomplete: ")
    assert [each["resource"] for each in sandbox["violations"]] == [str(secret)]


PROFILE = "sandboxConfig: {{profiles: {{seen: {{view: {view}, denials: attested}}}}}}"


def _with_profile(line: CommandLine, view: str) -> Path:
    document = home_of(line) / ".config/consentry/sandbox-config.yaml"
    return put(line, str(document), PROFILE.format(view=view))


def test_a_profile_of_the_own_configuration_asks_for_it(rooted: CommandLine) -> None:
    """As the option does."""
    _with_profile(rooted, "visible")
    secret = rooted.cwd.parent / "secret"
    words = ["--read", "./", "--", "python3", "-I", "-c", ASKS, "2", str(secret)]
    ended = rooted("exec", "--profile", "seen", *words)
    assert ended.status == 0, ended.err
    [violation] = last_record(rooted)["sandbox"]["violations"]
    found = (violation["resource"], violation["truth"], violation["times"])
    assert found == (str(secret), "kernel", 2)


def test_a_file_that_is_named_does_not(rooted: CommandLine) -> None:
    """Nothing is started, and the host's audit is not touched."""
    before = _written_at()
    document = _with_profile(rooted, "visible")
    ended = rooted("exec", "--profile", str(document), "--", "true")
    assert_error(ended, Code.NOT_ENFORCEABLE)
    assert "type --attest" in ended.err
    assert _written_at() == before


def test_a_profile_that_cannot_have_it_is_refused(rooted: CommandLine) -> None:
    """In the private view, and for snippets."""
    _with_profile(rooted, "private")
    ended = rooted("exec", "--profile", "seen", "--", "true")
    assert_error(ended, Code.NOT_ENFORCEABLE)
    assert "what the private view hides" in ended.err
    put(rooted, "snippet.py", "1")
    ended = rooted("code", "--profile", "seen", "snippet.py")
    assert_error(ended, Code.NOT_ENFORCEABLE)
    assert "observed, and never attested" in ended.err


def test_the_private_view_has_nothing_to_attest(rooted: CommandLine) -> None:
    """What is not there is not refused, so the option would promise what it cannot keep."""
    ended = rooted("exec", "--attest", "--", "true")
    assert_error(ended, Code.NOT_ENFORCEABLE)
    assert "denials: what the private view hides is never refused by Landlock" in ended.err


def test_an_ordinary_user_is_refused_with_the_reason(as_nobody: CommandLine) -> None:
    """Nothing runs with less than was asked for."""
    ended = as_nobody(*OPTIONS, "--", "true")
    assert_error(ended, Code.NOT_ENFORCEABLE)
    assert "the kernel gives its audit records to root only" in ended.err
