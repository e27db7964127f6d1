"""What is wrong with documents, and what is probably not meant; all of it, in one look."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service.linting import LintReport, is_clean, lint_files, lint_here
from consentry.service.surroundings import Surroundings
from tests.service.configuring import levels_text, write

MakeAround = Callable[..., Surroundings]
TOOL = """\
tool:
  name: {name}
  description: {description}
  version: "1.0.0"
  capabilities: {{}}
  riskLevel: {risk}
  entrypoint: {{command: "true"}}
{more}
"""
DIGEST = "sha256:" + "ab" * 32


def tool(name: str, *, more: str = "", risk: str = "low", description: str = "d") -> str:
    """A manifest that nothing is wrong with, and a line behind it."""
    return TOOL.format(name=name, more=more, risk=risk, description=description)


@pytest.fixture
def here(around: MakeAround) -> Surroundings:
    """Started in the project, with the usual programs on PATH."""
    return around(environ={"PATH": "/usr/bin:/bin"})


@pytest.fixture
def folder(project: Path) -> Path:
    """The workspace's folder."""
    return project / ".consentry"


def said(found: LintReport) -> tuple[list[str], list[str]]:
    """Problems and notes, each with its file and its message."""
    return tuple(  # type: ignore[return-value] # of exactly two
        [f"{Path(each.where.file or '').name}:{each.where.line}: {each.message}" for each in group]
        for group in (found.problems, found.notes)
    )


def test_where_there_is_nothing_nothing_is_wrong(here: Surroundings) -> None:
    """No document, no problem."""
    assert lint_here(here) == LintReport(0, (), ())


def test_everything_that_is_wrong_is_told_at_once(
    here: Surroundings, folder: Path, home: Path
) -> None:
    """Across documents and folders, each with file, line and what to do."""
    write(folder, consent_config="consentSystem: {version: '2.0.0'}", broken="tool: {}")
    write(home / ".config/consentry", settings="approvals: {pasphrase: true}", ok=tool("ok"))
    found = lint_here(here)
    problems, notes = said(found)
    assert [each.partition(":")[0] for each in problems] == [
        "settings.yaml",
        "consent-config.yaml",
        *["broken.yaml"] * 5,
    ]
    assert notes == []
    assert (found.documents, is_clean(found)) == (4, False)
    assert all(each.help_line for each in found.problems)


def test_a_tool_in_the_index_without_a_manifest_is_an_error(
    here: Surroundings, folder: Path
) -> None:
    """CONSENT §manifest-2, SC-1: with the line of the index."""
    write(
        folder,
        tool_manifest="tools:\n  - {name: a}\n  - {name: b, file: more/b.yaml}\n",
        a=tool("a"),
        c=tool("c"),
    )
    problems, notes = said(lint_here(here))
    assert problems == ["tool-manifest.yaml:3: `b` has no manifest: there is no `more/b.yaml`"]
    assert notes == ["c.yaml:None: no tool: `tool-manifest.yaml` does not name it"]


def test_a_manifest_elsewhere_is_found_through_the_index(here: Surroundings, folder: Path) -> None:
    """And is read like the others; its name must be the one it is taken for."""
    write(folder, tool_manifest="tools: [{name: b, file: more/x.yaml}]")
    (folder / "more").mkdir()
    (folder / "more/x.yaml").write_text(tool("b"))
    assert said(lint_here(here)) == ([], [])
    (folder / "more/x.yaml").write_text(tool("other"))
    assert said(lint_here(here))[0] == [
        "x.yaml:2: this is the manifest of `other`, and it is taken for `b`"
    ]


def test_a_manifest_has_the_name_of_its_file(here: Surroundings, folder: Path) -> None:
    """Where no index says otherwise."""
    write(folder, a=tool("b"))
    assert said(lint_here(here))[0] == [
        "a.yaml:2: this is the manifest of `b`, and it is taken for `a`"
    ]


def test_a_tool_that_starts_nothing(here: Surroundings, folder: Path) -> None:
    """CONTRACTS §7-entry: a run of it could only be refused."""
    write(folder, a=tool("a").replace('  entrypoint: {command: "true"}\n', ""))
    [problem] = lint_here(here).problems
    assert problem.message.startswith("a run would start nothing")


def test_a_profile_that_is_not_there(here: Surroundings, folder: Path, home: Path) -> None:
    """The nearest one is named; one of the user's own does as well."""
    write(folder, a=tool("a", more="  sandboxRequirements: {profile: lint-onyl}"))
    write(home / ".config/consentry", sandbox_config="sandboxConfig: {profiles: {lint-only: {}}}")
    [problem] = lint_here(here).problems
    assert problem.message == "there is no profile `lint-onyl` here"
    assert problem.help_line == "did you mean `lint-only`?"
    write(folder, a=tool("a", more="  sandboxRequirements: {profile: lint-only}"))
    assert lint_here(here).problems == ()


def test_notes_are_no_problems(here: Surroundings, folder: Path) -> None:
    """What works and is probably not meant: levels, policies, purposes, programs."""
    write(
        folder,
        consent_config=levels_text(strict="{allowedTools: [bild]}"),
        policy=(
            f"policyVersion: '1'\nentries:\n- {{tool: build, version: 2.0.0, digest: '{DIGEST}'}}\n"
            f"- {{tool: gone, version: 2.0.0, digest: '{DIGEST}'}}\n"
        ),
        build=tool(
            "build", risk="high", more="  consentLevel: none", description="'to fill in: what'"
        ).replace('"true"', "no-such-program-here"),
    )
    found = lint_here(here)
    assert is_clean(found)
    assert said(found)[1] == [
        "build.yaml:2: `consentLevel: none` has no effect: risk high is strict",
        "build.yaml:2: the description is still to be filled in",
        "build.yaml:7: no folder of PATH has a program `no-such-program-here`",
        "consent-config.yaml:4: there is no tool `bild` here",
        "policy.yaml:3: `build` is at version 1.0.0, and the entry at 2.0.0",
        "policy.yaml:4: there is no tool `gone` here",
    ]
    assert found.notes[3].help_line == "did you mean `build`?"


def test_files_that_are_named(here: Surroundings, tmp_path: Path) -> None:
    """Alone, and by what their names say."""
    (tmp_path / "policy.yaml").write_text("policyVersion: '9'\nentries: []")
    (tmp_path / "mine.yaml").write_text(tool("anything"))
    found = lint_files(here, [str(tmp_path / "policy.yaml"), str(tmp_path / "mine.yaml")])
    assert (found.documents, len(found.problems), found.notes) == (2, 1, ())


def test_a_file_of_ten_megabytes_is_refused_before_it_is_parsed(
    here: Surroundings, folder: Path
) -> None:
    """In a folder, as one problem among others."""
    write(folder, big="#" * 10_000_000, ok=tool("ok"))
    [problem] = lint_here(here).problems
    assert "more than 1,048,576 bytes" in problem.message


def test_anchors_and_aliases_expand_to_nothing(here: Surroundings, folder: Path) -> None:
    """The bomb of nested aliases is refused where it is written, with its lines."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    write(folder, bomb="\n".join(lines))
    problems, _ = said(lint_here(here))
    assert any("is an anchor, and none is taken" in each for each in problems)
    assert all(each.startswith("bomb.yaml:") for each in problems)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(here: Surroundings, folder: Path) -> None:
    """Is a problem of its own; the others are read."""
    write(folder, closed=tool("closed"), ok=tool("ok"))
    (folder / "tools/closed.yaml").chmod(0)
    found = lint_here(here)
    assert [each.code for each in found.problems] == [Code.CONFIG_FILE]
    assert found.documents == 1


@pytest.mark.parametrize("kind", ["folder", "pipe", "broken link", "link out"])
def test_what_is_no_plain_file_is_a_problem(
    here: Surroundings, folder: Path, home: Path, kind: str
) -> None:
    """Told once, and never waited for."""
    write(folder, ok=tool("ok"))
    path = folder / "tools/odd.yaml"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "broken link":
            path.symlink_to("nowhere")
        case _:
            (home / "mine.yaml").write_text(tool("odd"))
            path.symlink_to(home / "mine.yaml")
    found = lint_here(here)
    assert [each.code for each in found.problems] == [Code.CONFIG_FILE]
    assert found.documents == 1
