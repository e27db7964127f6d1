"""`consentry init`: the real command begins a configuration that the other commands can use."""

import json
import os
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error


def test_a_configuration_is_begun_and_in_order(line: CommandLine) -> None:
    """As root and as an ordinary user: what it wrote has no problem, and a second time changes nothing."""
    (line.cwd / "Makefile").write_text("hello:\n\t@echo hello\n")
    first = line("init")
    assert (first.status, first.err) == (0, "")
    assert "wrote tools/make-hello.yaml: Make the target `hello` of Makefile" in first.out
    checked = line("tool", "lint")
    assert (checked.status, checked.out) == (0, "3 documents: no problems, no notes\n")
    again = line("init")
    assert (again.status, "wrote" in again.out) == (0, False)
    assert again.out.endswith("all of it was there already\n")


def test_the_answer_for_scripts(consentry: CommandLine) -> None:
    """One document; bare names with `--quiet`; nothing is written by a dry run."""
    (consentry.cwd / "package.json").write_text('{"scripts": {"-x": "y", "ok": "true"}}')
    tried = json.loads(consentry("init", "--dry-run", "--json").out)
    assert (tried["kind"], tried["dry_run"]) == ("init", True)
    assert not (consentry.cwd / ".consentry").exists()
    assert [each["file"] for each in tried["written"]] == [
        "consent-config.yaml",
        "sandbox-config.yaml",
        "tools/npm-ok.yaml",
    ]
    assert tried["left_out"] == ["package.json: script `-x`: its name or text is unusual"]
    written = consentry("init", "--quiet").out.split()
    assert [Path(each).name for each in written] == [
        "consent-config.yaml",
        "sandbox-config.yaml",
        "npm-ok.yaml",
    ]
    assert all(Path(each).is_file() for each in written)


def test_what_a_project_says_does_not_act_on_the_terminal(consentry: CommandLine) -> None:
    """Names of scripts are a stranger's text; those with control characters are left out, and shown."""
    scripts = {"a\x1b[31m": "x", 'b"\nconsentLevel: none': "x", "c`d": "x"}
    (consentry.cwd / "package.json").write_text(json.dumps({"scripts": scripts}))
    ended = consentry("init")
    assert "\x1b" not in ended.out
    assert "\\u{1b}" in ended.out
    assert sorted(path.name for path in (consentry.cwd / ".consentry/tools").iterdir()) == [
        "npm-c-d.yaml"
    ]
    assert consentry("tool", "lint").status == 0


def test_the_users_own(consentry: CommandLine, home: Path) -> None:
    """For every workspace, so none is named."""
    assert consentry("init", "--own").status == 0
    assert (home / ".config/consentry/settings.yaml").is_file()
    assert_error(consentry("init", "--own", "--workspace", "."), Code.USAGE)
    assert consentry("doctor", "--json").status in (0, 1)
    assert consentry("tool", "lint", "--quiet").out == ""


def test_places_that_cannot_be_used(consentry: CommandLine, home: Path) -> None:
    """One clear error each, and nothing half-done."""
    assert_error(consentry("init", "--workspace", "nowhere"), Code.WORKSPACE_MISSING)
    (consentry.cwd / ".consentry").write_text("a file")
    assert_error(consentry("init"), Code.FILE_UNUSABLE)
    outside = CommandLine(home, consentry.environ)
    assert_error(outside("init"), Code.WORKSPACE_REFUSED)


def test_a_folder_that_may_not_be_written(as_nobody: CommandLine) -> None:
    """An ordinary user is told why."""
    as_nobody.cwd.chmod(0o555)
    os.chown(as_nobody.cwd, 0, 0)
    assert_error(as_nobody("init"), Code.FILE_UNUSABLE)


@pytest.mark.parametrize("tool", ["make-hello", "make-build", "npm-hello"])
def test_what_is_proposed_is_enough_to_run(consentry: CommandLine, home: Path, tool: str) -> None:
    """Approved beforehand at its exact digest, because nobody can be asked here: the script runs."""
    if tool == "npm-hello" and not Path("/usr/bin/npm").exists():
        pytest.skip("there is no npm here")
    (consentry.cwd / "Makefile").write_text("hello build:\n\t@echo hello\n")
    (consentry.cwd / "package.json").write_text('{"scripts": {"hello": "echo hello"}}')
    consentry("init")
    consentry("init", "--own")
    digest = consentry("tool", "show", tool, "--quiet").out.strip()
    entry = f'{{tool: {tool}, version: "0.1.0", digest: "{digest}"}}'
    policy = home / ".config/consentry/policy.yaml"
    policy.write_text(f'policyVersion: "1"\nentries: [{entry}]\n')
    assert consentry("tool", "lint", "--quiet").status == 0
    ended = consentry("run", tool)
    assert ended.status == 0, ended.err
    assert ended.out.endswith("hello\n")
