"""`consentry fence`: statuses, text, JSON and SARIF; and the hook of pre-commit (TRUST §fence-1, §fence-2)."""

import json
import os
import socket
from pathlib import Path

import pytest
import yaml

import consentry as package
from consentry.base.codes import Code
from consentry.examine.fence.findings import Rule
from consentry.examine.fence.report import FINGERPRINT
from tests.cli.conftest import CommandLine, assert_error

REPOSITORY = Path(__file__).resolve().parents[2]
MADE = "EvilCapability()\n"


@pytest.fixture
def tree(project: Path) -> Path:
    """A folder with one file that is in order."""
    folder = project / "code"
    folder.mkdir()
    (folder / "plain.py").write_text("x = 1\n")
    return folder


@pytest.mark.usefixtures("tree")
def test_nothing_to_report(consentry: CommandLine) -> None:
    """Status 0, and how much was read; `--quiet` says nothing at all."""
    ended = consentry("fence", "code")
    assert (ended.status, ended.out) == (0, "nothing to report in 1 file\n")
    assert consentry("fence", "code", "--quiet").out == ""


def test_a_finding_has_its_place_and_help(consentry: CommandLine, tree: Path) -> None:
    """Status 1; `file:line:column` as editors read it; the help once for each rule."""
    (tree / "evil.py").write_text("\n" + MADE + MADE)
    ended = consentry("fence", "code")
    assert ended.status == 1
    assert ended.out.splitlines() == [
        "code/evil.py:2:1: token-made: `EvilCapability` is made here",
        f"  help: {Rule.MADE.help_line}",
        "code/evil.py:3:1: token-made: `EvilCapability` is made here",
        "2 to look at in 2 files",
    ]
    quiet = consentry("fence", "code/evil.py", "--quiet").out.splitlines()
    assert len(quiet) == 2


def test_json_has_every_field(consentry: CommandLine, tree: Path) -> None:
    """One document; what is not source is counted."""
    (tree / "evil.py").write_text(MADE)
    (tree / "notes.md").write_text("EvilCapability()")
    ended = consentry("fence", "code", "--json")
    document = json.loads(ended.out)
    assert ended.status == 1
    assert document == {
        "schema_version": 1,
        "kind": "fence",
        "files": 2,
        "pardoned": 0,
        "others": 1,
        "findings": [
            {
                "path": "code/evil.py",
                "line": 1,
                "column": 1,
                "rule": "token-made",
                "message": "`EvilCapability` is made here",
                "help": Rule.MADE.help_line,
            }
        ],
    }
    assert "not read code/notes.md" in consentry("fence", "code", "--verbose").err


def test_sarif_has_rules_places_and_fingerprints_that_stay(
    consentry: CommandLine, tree: Path
) -> None:
    """The same writer as the guard's; a finding that moves is the same one."""
    (tree / "evil.py").write_text(MADE)
    ended = consentry("fence", "code", "--sarif")
    log = json.loads(ended.out)
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    assert (log["version"], driver["name"], driver["version"]) == (
        "2.1.0",
        "Consentry fence",
        package.__version__,
    )
    assert [each["id"] for each in driver["rules"]] == [each.value for each in Rule]
    [result] = run["results"]
    assert (result["ruleId"], result["level"]) == ("token-made", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "code/evil.py"
    assert place["region"] == {"startLine": 1, "startColumn": 1}
    (tree / "evil.py").write_text("\n\n" + MADE)
    again = json.loads(consentry("fence", "code", "--sarif").out)["runs"][0]["results"][0]
    assert again["partialFingerprints"] == result["partialFingerprints"]
    assert list(result["partialFingerprints"]) == [FINGERPRINT]
    assert ended.status == run["invocations"][0]["exitCode"] == 1


def test_what_cannot_be_read_is_a_finding(consentry: CommandLine, tree: Path) -> None:
    """Fail closed: status 1 for source that does not parse, odd files, and links that lead out."""
    (tree / "broken.py").write_text("def f(:\n")
    (tree / "nul.py").write_bytes(b"x\0")
    (tree / "large.py").write_bytes(b"#" * (5 << 20))
    (tree / "out.py").symlink_to("/etc/hostname")
    (tree / "nowhere.py").symlink_to("gone.py")
    os.mkfifo(tree / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tree / "socket"))
        ended = consentry("fence", "code", "--json")
    found = json.loads(ended.out)["findings"]
    assert ended.status == 1
    assert {each["rule"] for each in found} == {"unreadable"}
    assert [each["path"].removeprefix("code/") for each in found] == [
        *("broken.py", "large.py", "nowhere.py", "nul.py", "out.py", "pipe.py", "socket"),
    ]


def test_what_a_user_may_not_read_is_a_finding(as_nobody: CommandLine) -> None:
    """A folder or a file without the right to read it is not passed over."""
    folder = as_nobody.cwd / "code"
    for name in ("shut", "open"):
        (folder / name).mkdir(parents=True)
    (folder / "open" / "shut.py").write_text(MADE)
    (folder / "open" / "shut.py").chmod(0)
    folder.chmod(0o755)
    (folder / "open").chmod(0o755)
    (folder / "shut").chmod(0)
    try:
        ended = as_nobody("fence", "code", "--json")
    finally:
        (folder / "shut").chmod(0o700)
    found = json.loads(ended.out)["findings"]
    assert (ended.status, [each["path"] for each in found]) == (
        1,
        ["code/open/shut.py", "code/shut"],
    )
    assert {each["rule"] for each in found} == {"unreadable"}


def test_links_inside_are_read_as_what_they_lead_to(consentry: CommandLine, tree: Path) -> None:
    """Data under the name of a module is a module; a folder that leads back to itself is no end."""
    (tree / "data.txt").write_text(MADE)
    (tree / "module.py").symlink_to("data.txt")
    (tree / "again").symlink_to(".")
    ended = consentry("fence", "code", "--json")
    document = json.loads(ended.out)
    assert [each["path"] for each in document["findings"]] == ["code/module.py"]
    assert document["others"] == 2


def test_a_program_without_ending_is_read(consentry: CommandLine, tree: Path) -> None:
    """Where its first line names Python."""
    (tree / "tool").write_text("#!/usr/bin/env python3\n" + MADE)
    (tree / "script").write_text("#!/bin/sh\nEvilCapability()\n")
    document = json.loads(consentry("fence", "code", "--json").out)
    assert [each["path"] for each in document["findings"]] == ["code/tool"]


def test_hostile_names_are_shown_safely(consentry: CommandLine, tree: Path) -> None:
    """A name with an escape in it, or that is not UTF-8, moves no cursor and breaks no document."""
    (tree / "a\x1b[2J.py").write_text(MADE)
    (tree / os.fsdecode(b"b\xff.py")).write_text(MADE)
    ended = consentry("fence", "code")
    assert (ended.status, "\x1b" in ended.out) == (1, False)
    assert len(json.loads(consentry("fence", "code", "--json").out)["findings"]) == 2
    assert len(json.loads(consentry("fence", "code", "--sarif").out)["runs"][0]["results"]) == 2


def test_homes_and_tests_are_pardoned_and_strict_pardons_nothing(
    consentry: CommandLine, tree: Path
) -> None:
    """The attack fails, the same line passes where it is granted, and `--strict` takes that away."""
    (tree / "home.py").write_text(MADE)
    (tree / "tests").mkdir()
    (tree / "tests" / "test_x.py").write_text(MADE)
    (tree / "push.py").write_text("run(['git', 'push'])  # consentry-fence: command-pushes: why\n")
    given = ("--home", "code/home.py", "--tests", "code/tests")
    assert consentry("fence", "code").status == 1
    ended = consentry("fence", "code", *given)
    assert (ended.status, ended.out) == (0, "nothing to report in 4 files, 2 of them pardoned\n")
    strict = json.loads(consentry("fence", "code", "--strict", "--json").out)
    assert len(strict["findings"]) == 3
    assert_error(consentry("fence", "code", "--strict", *given), Code.USAGE)


@pytest.mark.usefixtures("tree")
def test_wrong_usage_is_status_2(consentry: CommandLine) -> None:
    """No path, one that does not exist, two formats at once."""
    assert consentry("fence").status == 2
    assert_error(consentry("fence", "gone"), Code.FILE_UNUSABLE)
    assert consentry("fence", "code", "--json", "--sarif").status == 2


def test_our_own_package_passes(consentry: CommandLine) -> None:
    """TRUST §fence-2: its homes are known by where they lie."""
    folder = Path(package.__file__).parent
    ended = consentry("fence", str(folder / "decide"), str(folder / "store"))
    assert ended.status == 0, ended.out


def test_the_hook_looks_at_the_files_it_is_given(consentry: CommandLine, tree: Path) -> None:
    """As pre-commit runs it: the Python files that are staged, behind the words of its entry."""
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    [hook] = [each for each in hooks if each["id"] == "consentry-fence"]
    assert (hook["types_or"], hook["language"]) == (["python"], "python")
    assert "pass_filenames" not in hook
    program, *words = hook["entry"].split()
    assert program == "consentry"
    assert consentry(*words, "code/plain.py").status == 0
    (tree / "evil.py").write_text(MADE)
    assert consentry(*words, "code/plain.py", "code/evil.py").status == 1
