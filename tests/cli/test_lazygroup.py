"""What is imported, and what is not: a command pays for itself only."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from consentry.cli.command import PlainCommand
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.root import make_root

# The path of every invocation; each module here is paid for by every command.
START = {
    "consentry",
    "consentry.cli",
    "consentry.cli.command",
    "consentry.cli.lazygroup",
    "consentry.cli.main",
    "consentry.cli.output",
    "consentry.cli.root",
    "consentry.cli.table",
}
HEAVY = {
    "cryptography",
    "ctypes",
    "dataclasses",
    "difflib",
    "json",
    "pathlib",
    "pydantic",
    "rfc8785",
    "rich",
    "sqlite3",
    "subprocess",
    "tomllib",
    "yaml",
}

GROUPS = {
    "audit": [
        "log",
        "show",
        "checkpoint",
        "verify",
        "proof",
        "export",
        "backup",
        "retain",
        "rebuild",
    ],
    "session": ["list", "end"],
    "surface": ["show", "diff"],
    "capability": ["save", "list", "show", "run", "history", "set"],
    "wish": ["init", "check"],
    "tool": ["new", "list", "show", "narrow", "lint"],
    "consent": ["list", "show", "history", "revoke"],
    "passphrase": ["set", "remove"],
    "plugins": ["lock", "verify", "list", "sign", "forget", "init"],
    "keys": ["make", "list", "show", "trust", "rotate", "revoke"],
    "tokens": ["list", "show"],
    "tx": ["list", "show", "approve", "reject", "apply", "rollback", "resolve"],
    "module": ["import", "list", "show", "graph", "remove", "catalog", "mode", "hosts"],
    "grants": ["list", "revoke", "explain"],
    "signoff": ["resolve"],
}

SCRIPT = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from consentry.cli.main import main
sys.argv = ["consentry", *sys.argv[1:]]
main()
"""


def _modules(*words: str, **environ: str) -> set[str]:
    """The modules in memory when the command ended, besides what the interpreter starts with."""
    before = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    return set(done.stderr.splitlines()[-1].split()) - set(before.stdout.split())


def _ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "consentry"}


def _foreign(modules: set[str]) -> set[str]:
    tops = {name.partition(".")[0] for name in modules}
    return tops - set(sys.stdlib_module_names) - {"consentry", "__main__"}


def test_version_imports_the_start_and_click_and_nothing_else() -> None:
    """Exactly these modules of ours, one library, and nothing heavy."""
    modules = _modules("--version")
    assert _ours(modules) == START
    assert _foreign(modules) == {"click"}
    assert not HEAVY & modules


def test_root_help_imports_no_command() -> None:
    """The page comes from the static table."""
    modules = _modules("--help")
    assert _ours(modules) == START | {"consentry.cli.page"}
    assert _foreign(modules) == {"click"}
    assert not HEAVY & modules


def test_completing_a_command_word_imports_no_other_command() -> None:
    """The words come from the static table, too."""
    request = {"COMP_WORDS": "consentry st", "COMP_CWORD": "1"}
    modules = _modules(_CONSENTRY_COMPLETE="bash_complete", **request)
    commands = {"consentry.cli.status", "consentry.cli.explain"}
    assert "consentry.cli.completion" in modules
    assert not commands & modules
    assert not any(name.startswith(("consentry.service", "consentry.surface")) for name in modules)


@pytest.mark.parametrize("word", ["status", "explain", "completion"])
def test_help_of_a_command_imports_that_command_only(word: str) -> None:
    """Asking one command for its page does not load the others."""
    modules = _modules(word, "--help")
    others = {"status", "explain", "completion"} - {word}
    assert f"consentry.cli.{word}" in modules
    assert not {f"consentry.cli.{other}" for other in others} & modules


def test_status_needs_no_surface_and_no_document_reader(tmp_path: Path) -> None:
    """A look at the host does not load the lattice, YAML or the terminal library.

    Where a workspace has neither documents nor plugins, that is: those are read.
    """
    modules = _modules("status", "--quiet", "--workspace", str(tmp_path))
    assert not any(name.startswith("consentry.surface") for name in modules)
    assert _foreign(modules) == {"click"}


def test_a_run_that_nobody_is_asked_about_loads_no_question(tmp_path: Path) -> None:
    """No prompt, no preview, no attack of the probe, and no parser for documents that are known."""
    config, project = tmp_path / "home/.config/consentry", tmp_path / "project"
    (config / "tools").mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    command = {"command": "/usr/bin/true", "arguments": [], "purpose": "nothing"}
    tool = {
        "name": "noop",
        "description": "Does nothing",
        "version": "1.0.0",
        "capabilities": {"processExecution": [command]},
        "riskLevel": "low",
    }
    levels = {"version": "1.0.0", "consentLevels": {"none": {"allowedTools": ["noop"]}}}
    (config / "tools/noop.yaml").write_text(json.dumps({"tool": tool}))
    (config / "consent-config.yaml").write_text(json.dumps({"consentSystem": levels}))
    words = ("run", "--workspace", str(project), "noop")
    first, second = (_modules(*words, HOME=str(tmp_path / "home")) for _ in range(2))
    assert "yaml" in first
    assert "consentry.enforce.native.parent" in second
    unused = {
        "consentry.cli.prompt",
        "consentry.cli.previewbox",
        "consentry.service.previewing",
        "consentry.enforce.scorecard",
        "consentry.enforce.engines.docker",
        "consentry.enforce.egress.server",
        "yaml",
    }
    assert unused & second == set()


@pytest.mark.parametrize(
    "words", [("status",), ("inbox",), ("approve", "request-0198c2f4-71"), ("session", "list")]
)
def test_who_has_no_modules_pays_nothing_for_them(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Also where questions are answered: what a module asks for is loaded when one asks."""
    modules = _modules(*words, HOME=str(tmp_path))
    named = ("consentry.cli.module", "consentry.cli.grant", "consentry.service.module")
    assert [each for each in modules if each.startswith((*named, "consentry.service.grant"))] == []
    unused = {
        "consentry.decide.actionask",
        "consentry.decide.capabilityask",
        "consentry.declare.modulepackage",
        "consentry.enforce.broker",
        "consentry.store.grants",
        "consentry.store.modules",
    }
    assert unused & modules == set()


def test_garbage_is_looked_for_again_once_the_command_is_loaded() -> None:
    """Nobody looks among modules while they load; what runs long must not grow."""
    gc.disable()
    try:
        assert make_root().get_command(click.Context(click.Command("x")), "status") is not None
        assert gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()


def test_table_and_commands_agree() -> None:
    """Every row leads to a command of that name, with a page that has examples and statuses."""
    root = make_root()
    context = click.Context(root, info_name="consentry")
    assert root.list_commands(context) == [
        "status",
        "engines",
        "doctor",
        "init",
        "tool",
        "plugins",
        "keys",
        "trust",
        "schema",
        "module",
        "grants",
        "guard",
        "fence",
        "surface",
        "wish",
        "run",
        "exec",
        "code",
        "capability",
        "learn",
        "inbox",
        "approve",
        "deny",
        "consent",
        "tokens",
        "escalations",
        "passphrase",
        "effect",
        "commit",
        "discard",
        "undo",
        "tx",
        "why",
        "report",
        "audit",
        "signoff",
        "drill",
        "session",
        "purge",
        "explain",
        "completion",
    ]
    for name in root.rows.keys() - GROUPS.keys():
        command = root.get_command(context, name)
        assert isinstance(command, PlainCommand)
        assert command.name == name
        assert command.page.examples
        assert {"0", "2"} <= {status for status, _ in command.page.statuses}
        options = {opt for param in command.params for opt in param.opts}
        assert {"--json", "--quiet", "--verbose", "--color", "--help", "-h"} <= options


def test_every_command_has_a_file_of_its_name() -> None:
    """`consentry WORD` is `cli/WORD.py`: where to look is never a question."""
    folder = Path(__file__).parents[2] / "src/consentry/cli"
    for row in make_root().rows.values():
        assert row.location == f"consentry.cli.{row.name}:{row.name}"
        assert (folder / f"{row.name}.py").is_file()


@pytest.mark.parametrize(("name", "words"), GROUPS.items())
def test_a_group_inside_the_root_is_a_table_too(name: str, words: list[str]) -> None:
    """It has a page of its own, and each of its rows leads to a command with one."""
    root = make_root()
    context = click.Context(root, info_name="consentry")
    group = root.get_command(context, name)
    assert isinstance(group, LazyGroup)
    assert group.page is not None
    assert group.list_commands(context) == words
    for word in words:
        command = group.get_command(context, word)
        assert isinstance(command, PlainCommand)
        assert command.name == word
        assert command.page.examples
        always = {"0", "5", "126"} if name in ("audit", "session") else {"0", "2"}
        assert always <= {status for status, _ in command.page.statuses}
