"""Manifests that a project's own files suggest: narrow, readable, and safe from what the files say."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.manifestdraft import TO_FILL_IN, ManifestDraft
from consentry.declare.proposals import (
    MOST_PROPOSALS,
    Project,
    Proposed,
    from_makefile,
    from_package_json,
    from_pyproject,
)
from consentry.declare.tool import ConsentLevel, RiskLevel, ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.dimensions import Level

PROJECT = Project(
    folders=frozenset({"src", "dist", "node_modules", "tests", "private"}),
    files=frozenset({"package.json", "build.js", "Makefile", "pyproject.toml", ".env", "id_rsa"}),
    bins=frozenset({"webpack"}),
)


def read(draft: ManifestDraft) -> ToolManifest:
    """The manifest that a draft is, by our own reader."""
    return read_tool_manifest(draft.text().encode(), f"{draft.name}.yaml")


def npm(scripts: object) -> Proposed:
    """What a package.json with these scripts suggests."""
    return from_package_json(json.dumps({"scripts": scripts}).encode(), PROJECT)


def patterns(tool: ToolManifest) -> tuple[list[str], list[str]]:
    """What it reads, and what it writes."""
    asked = tool.capabilities
    return [need.entry.written for need in asked.file_read], [
        need.entry.written for need in asked.file_write
    ]


def test_a_script_of_npm() -> None:
    """Starts the real command; reads what is usual and there, writes what its name stands for."""
    [draft] = npm({"build": "webpack --mode production && echo done"}).drafts
    tool = read(draft)
    assert tool.name == "npm-build"
    assert tool.entrypoint is not None
    assert (tool.entrypoint.command, tool.entrypoint.arguments) == ("npm", ("run", "build"))
    assert patterns(tool) == (
        ["package.json", "*.js", "node_modules/**", "src/**", "tests/**"],
        ["dist/**"],
    )
    assert [each.command for each in tool.capabilities.commands] == [
        "node",
        "env",
        "sh",
        "./node_modules/.bin/webpack",
        "echo",
    ]


def test_proposals_are_narrow() -> None:
    """No network, no variables, nothing hidden, medium risk, asked for each time."""
    for draft in (*npm({"start": "node server.js"}).drafts, *makefile("all:\n\tcc x.c\n").drafts):
        tool = read(draft)
        assert tool.capabilities.network.level is Level.NONE
        assert (tool.capabilities.env_read, tool.capabilities.env_write) == ((), ())
        assert (tool.risk, tool.consent_level) == (RiskLevel.MEDIUM, ConsentLevel.EXPLICIT)
        assert not {".env", "id_rsa", "private/**", "**"} & set(patterns(tool)[0])


def test_purposes_are_stated() -> None:
    """Each says honestly that it is a guess of the usual, and none is left to be filled in."""
    [draft] = npm({"build": "tsc"}).drafts
    assert TO_FILL_IN not in draft.text()
    assert draft.text().startswith("# Proposed from package.json: a guess")


def test_hooks_belong_to_their_script() -> None:
    """Npm runs them by itself; one without a script is a script."""
    drafts = npm({"test": "x", "pretest": "y", "posttest": "z", "prepare": "w"}).drafts
    assert [draft.name for draft in drafts] == ["npm-test", "npm-prepare"]


@pytest.mark.parametrize(
    "name",
    [
        'a"\n  consentLevel: none\n#',
        "x: y",
        "# remark",
        "- list",
        "{flow: map}",
        "a\\x00b",
        "&anchor",
        "*alias",
        "!!tag",
        "%directive",
        "'quoted'",
        '"quoted"',
        "test\ttab",
        "\u2028line",
        "\u202eturned",
        "esc\x1b[31m",
        "\ud800",
        "\0",
        "é",
        "名前",
        "__proto__",
        "..",
        "a" * 100,
        "a" * 101,
        "",
        "--ignore-scripts",
        "-rf",
    ],
)
def test_no_name_breaks_out(name: str) -> None:
    """A hostile package.json: the manifest starts that very script, or there is none."""
    found = npm({name: "node x.js"})
    if not found.drafts:
        assert len(found.left_out) == 1
        is_odd = not name or not name.isprintable() or name.startswith("-") or len(name) > 100
        assert is_odd, name
        return
    tool = read(found.drafts[0])
    assert tool.entrypoint is not None
    assert tool.entrypoint.arguments == ("run", name)
    assert tool.consent_level is ConsentLevel.EXPLICIT
    assert tool.capabilities.network.level is Level.NONE


@given(st.dictionaries(st.text(max_size=30), st.text(max_size=60), max_size=5))
def test_whatever_the_scripts_are_each_proposal_can_be_read(scripts: dict[str, str]) -> None:
    """By our own reader, under a name of its own."""
    found = npm(scripts)
    tools = [read(draft) for draft in found.drafts]
    assert len({tool.name for tool in tools}) == len(tools)
    for tool in tools:
        assert tool.entrypoint is not None
        assert tool.entrypoint.arguments[1] in scripts


def test_names_that_become_the_same_are_numbered() -> None:
    """No proposal replaces another."""
    names = [draft.name for draft in npm({"a b": "x", "a-b": "y", "A:B": "z"}).drafts]
    assert names == ["npm-a-b", "npm-a-b-2", "npm-a-b-3"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"not json",
        b'{"scripts": []}',
        b'{"scripts": {"a": 1}}',
        b'{"scripts": {"a": ["x"]}}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"scripts": ' + b"9" * 10_000 + b"}",
    ],
)
def test_a_package_json_that_is_none_suggests_nothing(content: bytes) -> None:
    """And does not stop anything."""
    assert from_package_json(content, PROJECT).drafts == ()


def test_there_are_only_so_many() -> None:
    """The others are counted, not made."""
    found = npm({f"s{number}": "x" for number in range(1000)})
    assert len(found.drafts) == MOST_PROPOSALS
    assert found.left_out == (f"package.json: {1000 - MOST_PROPOSALS} more",)


def makefile(text: str) -> Proposed:
    """What a Makefile suggests."""
    return from_makefile(text.encode(), "Makefile", PROJECT)


def test_targets_of_make() -> None:
    """Those that are called phony; their recipes say what is started."""
    found = makefile(
        "CC := gcc\n.PHONY: all \\\n  clean\nall: main.o\n\t@$(CC) -o app main.o\n\t-strip app\n"
        "main.o: main.c\n\tgcc -c main.c\nclean:\n\trm -f app\n"
    )
    tools = [read(draft) for draft in found.drafts]
    assert [tool.name for tool in tools] == ["make-all", "make-clean"]
    assert [[each.command for each in tool.capabilities.commands] for tool in tools] == [
        ["sh", "strip"],
        ["sh", "rm"],
    ]
    assert tools[0].entrypoint is not None
    assert (tools[0].entrypoint.command, tools[0].entrypoint.arguments) == ("make", ("all",))


def test_no_folder_is_made_that_make_would_take_for_its_target() -> None:
    """A box has the folders that may be written: `build` would be up to date, and nothing be built."""
    bare = Project(folders=frozenset(), files=frozenset({"Makefile"}), bins=frozenset())
    [draft] = from_makefile(b"build:\n\techo hi > build/x\n", "Makefile", bare).drafts
    assert patterns(read(draft))[1] == ["dist/**"]


def test_without_phony_targets_those_that_look_like_no_file() -> None:
    """Patterns, variables, special targets and conditions are none."""
    text = (
        "all build: x\nx.o:\n\tcc\n%.o: %.c\n.SUFFIXES:\nV := a:b\nifeq ($(x),y)\nendif\n$(A): b\n"
    )
    assert [draft.name for draft in makefile(text).drafts] == ["make-all", "make-build"]


@given(st.text(max_size=300))
def test_no_makefile_breaks_out(text: str) -> None:
    """Whatever is proposed can be read."""
    for draft in makefile(text).drafts:
        assert read(draft).entrypoint is not None


def test_a_hostile_makefile_takes_no_time_to_speak_of() -> None:
    """Long lines are cut before anything is matched against them; the test's time limit watches."""
    assert makefile(("a " * 4_000_000) + "\n").drafts == ()


def test_checkers_and_scripts_of_python() -> None:
    """For settings that the project has; nothing is written by them."""
    text = b"[tool.pytest.ini_options]\n[tool.ruff]\n[project]\nscripts = {serve = 'a:b'}\n"
    tools = [read(draft) for draft in from_pyproject(text, PROJECT).drafts]
    assert [tool.name for tool in tools] == ["pytest", "ruff", "serve"]
    assert [tool.entrypoint.command for tool in tools if tool.entrypoint] == [
        "python3",
        "ruff",
        "serve",
    ]
    assert all(patterns(tool)[1] == [] for tool in tools)


def test_programs_of_a_virtual_environment_are_those_of_the_project() -> None:
    """Where it has them; the environment is then read, too."""
    here = Project(folders=frozenset({".venv", "src"}), venv=frozenset({"python", "serve"}))
    text = b"[tool.mypy]\n[tool.ruff]\n[project]\nscripts = {serve = 'a:b'}\n"
    tools = [read(draft) for draft in from_pyproject(text, here).drafts]
    assert [tool.entrypoint.command for tool in tools if tool.entrypoint] == [
        "./.venv/bin/python",
        "ruff",
        "./.venv/bin/serve",
    ]
    assert patterns(tools[0]) == ([".venv/**", "src/**"], [])


@pytest.mark.parametrize(
    "content",
    [b"", b"x = ", b"tool = 3", b"[project]\nscripts = 1", b"\xff", b"a=" + b"[" * 50_000],
)
def test_a_pyproject_that_is_none_suggests_nothing(content: bytes) -> None:
    """And does not stop anything."""
    assert from_pyproject(content, PROJECT).drafts == ()


def test_odd_names_of_python_scripts_are_left_out() -> None:
    """A path or an option is no program to propose."""
    text = b"[project.scripts]\n'../x' = 'a'\n'-x' = 'a'\n'a*' = 'a'\n\"b\\n\" = 'a'\n"
    found = from_pyproject(text, PROJECT)
    assert (found.drafts, len(found.left_out)) == ((), 4)
