"""The configuration that counts: where it comes from, and whose word it is (CONTRACTS §9, CONSENT §config)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.exitstatus import ExitStatus
from consentry.decide.acceptance import AsIfAccepted
from consentry.declare.consent import DefaultPolicy
from consentry.declare.tool import ConsentLevel, Origin
from consentry.service.surroundings import Surroundings
from tests.service.configuring import levels_text, load, tool_text, write

MakeAround = Callable[..., Surroundings]
NONE, IMPLICIT, EXPLICIT, STRICT = ConsentLevel


@pytest.fixture
def own(home: Path) -> Path:
    """The user's own folder, with one tool."""
    return write(home / ".config/consentry", lint=tool_text("lint"))


@pytest.fixture
def theirs(project: Path) -> Path:
    """The workspace's folder, with one tool."""
    return write(project / ".consentry", thief=tool_text("thief"))


def level(around: Surroundings, name: str) -> ConsentLevel:
    """The level a tool has, with nothing accepted."""
    effective = load(around)
    return effective.level_of(effective.tool(name)).level


def test_without_any_document_the_defaults_hold(around: MakeAround) -> None:
    """CONSENT §config-1: `require_explicit`, no tool, nothing ignored."""
    effective = load(around())
    assert effective.consent.default_policy is DefaultPolicy.REQUIRE_EXPLICIT
    assert (list(effective.tools), effective.ignored, effective.strangers) == ([], (), {})
    assert not effective.is_accepted


@pytest.mark.usefixtures("own", "theirs")
def test_both_folders_bring_their_tools(around: MakeAround) -> None:
    """CONTRACTS §9-config: the user's folder is the base, the workspace's lies on top."""
    tools = load(around()).tools
    assert {name: tool.origin for name, tool in tools.items()} == {
        "lint": Origin.OWN,
        "thief": Origin.WORKSPACE,
    }
    assert [tool.is_trusted for tool in tools.values()] == [True, False]


@pytest.mark.usefixtures("own", "theirs")
def test_a_named_folder_replaces_both(around: MakeAround, tmp_path: Path) -> None:
    """CONTRACTS §9-config: `--config`."""
    other = write(tmp_path / "other", count=tool_text("count"))
    assert list(load(around(), named=str(other)).tools) == ["count"]


@pytest.mark.usefixtures("own")
def test_the_variable_moves_the_base(around: MakeAround, tmp_path: Path) -> None:
    """CONTRACTS §9-config: `$XDG_CONFIG_HOME/consentry`, and the default is not read then."""
    write(tmp_path / "xdg/consentry", count=tool_text("count"))
    moved = around(environ={"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert list(load(moved).tools) == ["count"]


def test_the_older_place_counts_where_the_newer_one_is_missing(
    around: MakeAround, project: Path
) -> None:
    """CONTRACTS §9-config: `.consentry/`, else `.paper/_cfg/`."""
    write(project / ".paper/_cfg", old=tool_text("old"))
    assert list(load(around()).tools) == ["old"]
    write(project / ".consentry", new=tool_text("new"))
    assert list(load(around()).tools) == ["new"]


def test_an_unknown_tool_is_named_with_the_nearest(around: MakeAround, own: Path) -> None:
    """A mistyped name costs one look at the message."""
    assert own.exists()
    with pytest.raises(ConsentryError, match="no tool `lnt`") as unknown:
        load(around()).tool("lnt")
    assert (unknown.value.code, unknown.value.exit_status) == (Code.TOOL_UNKNOWN, ExitStatus.USAGE)
    assert "`lint`" in unknown.value.help_line


def test_what_a_clone_lists_under_none_is_asked_for(around: MakeAround, theirs: Path) -> None:
    """The rule of trust: a workspace that lists its own thief under `none` lowers nothing.

    With the documents accepted the same list counts.
    """
    write(theirs, consent_config=levels_text(none="{allowedTools: [thief]}"))
    assert level(around(), "thief") is EXPLICIT
    [ignored] = load(around()).ignored
    assert ignored.lowers
    assert (ignored.where.line, "listed at none" in ignored.what) == (4, True)
    accepted = load(around(), AsIfAccepted())
    assert accepted.level_of(accepted.tool("thief")).level is NONE
    assert accepted.ignored == ()


def test_an_own_list_does_not_cover_a_strangers_manifest(
    around: MakeAround, own: Path, theirs: Path
) -> None:
    """The user lists a name at `none`; a clone brings a manifest of that name: asked for.

    The user's own manifest of that name runs unasked, and wins over the clone's.
    """
    write(own, consent_config=levels_text(none="{allowedTools: [check]}"))
    write(theirs, check=tool_text("check", description="Not what you think"))
    assert level(around(), "check") is EXPLICIT
    write(own, check=tool_text("check"))
    assert level(around(), "check") is NONE
    effective = load(around())
    assert effective.tool("check").origin is Origin.OWN
    [shadowed] = effective.ignored
    assert (shadowed.lowers, shadowed.where.file) == (False, str(theirs / "tools/check.yaml"))


def test_a_workspace_raises(around: MakeAround, own: Path, theirs: Path) -> None:
    """The rule of trust: stricter levels, a stricter default and consent for an own tool count."""
    write(own, consent_config=levels_text(none="{allowedTools: [lint]}"))
    assert level(around(), "lint") is NONE
    write(theirs, consent_config=levels_text(implicit="{allowedTools: [lint]}"))
    assert level(around(), "lint") is IMPLICIT
    index = "tools: [{name: lint, file: tools/thief.yaml, requiresConsent: true}]"
    write(theirs, tool_manifest=index)
    assert level(around(), "lint") is EXPLICIT
    (theirs / "tool-manifest.yaml").unlink()
    strict = levels_text(strict="{allowedTools: [lint]}") + "  defaultPolicy: require_strict\n"
    write(theirs, consent_config=strict)
    assert (level(around(), "lint"), level(around(), "thief")) == (STRICT, STRICT)


def test_a_tool_in_the_index_without_a_manifest_is_an_error(
    around: MakeAround, own: Path, theirs: Path
) -> None:
    """CONSENT §manifest-2: with the file and line of the index, whosesoever it is."""
    for folder in (own, theirs):
        write(folder, tool_manifest="tools:\n  - {name: gone}\n")
        with pytest.raises(ConsentryError, match="there is no `tools/gone") as missing:
            load(around())
        where = missing.value.where
        assert where is not None
        assert (where.file, where.line) == (str(folder / "tool-manifest.yaml"), 2)
        assert missing.value.exit_status is ExitStatus.BAD_DOCUMENT
        (folder / "tool-manifest.yaml").unlink()


def test_a_manifest_that_the_index_does_not_name_is_no_tool(around: MakeAround, own: Path) -> None:
    """Where there is an index, it says which tools there are; what it leaves out is told."""
    write(own, tool_manifest="tools: [{name: count}]", count=tool_text("count"))
    effective = load(around())
    assert list(effective.tools) == ["count"]
    [left_out] = effective.ignored
    assert (left_out.where.file, left_out.lowers) == (str(own / "tools/lint.yaml"), False)
    with pytest.raises(ConsentryError, match="is not named in"):
        effective.tool("lint")


def test_a_manifest_of_another_tool_is_refused(around: MakeAround, own: Path) -> None:
    """Otherwise a list that names one tool would speak of another."""
    write(own, lint=tool_text("format"))
    with pytest.raises(ConsentryError, match="taken for `lint`") as refused:
        load(around()).tool("lint")
    assert refused.value.exit_status is ExitStatus.BAD_DOCUMENT


def test_a_policy_and_settings_of_a_workspace_do_not_count(
    around: MakeAround, theirs: Path
) -> None:
    """CONTRACTS §9-config: entries only once accepted, settings never."""
    digest = "sha256:" + "0" * 64
    entry = f'policyVersion: "1"\nentries: [{{tool: thief, version: "1.0.0", digest: "{digest}"}}]'
    write(theirs, policy=entry, settings="approvals: {deadlines: {prompt: 1min}}")
    before, after = load(around()), load(around(), AsIfAccepted())
    assert (before.policy, [entry.tool for entry in after.policy]) == ((), ["thief"])
    assert before.settings == after.settings == load(around(), named=str(theirs / "tools")).settings
    assert [each.lowers for each in before.ignored] == [True, False]
    assert [each.lowers for each in after.ignored] == [False]


def test_the_policy_hash_changes_with_what_counts_and_with_nothing_else(
    around: MakeAround, own: Path, theirs: Path
) -> None:
    """CONTRACTS §9-policy-hash: a stranger's list that does not count changes no rule."""
    before = load(around()).policy_hash
    write(theirs, consent_config=levels_text(none="{allowedTools: [thief]}"))
    assert load(around()).policy_hash == before
    assert load(around(), AsIfAccepted()).policy_hash != before
    write(own, consent_config="# moved\n\n" + levels_text())
    assert load(around()).policy_hash == before
    write(own, consent_config=levels_text(strict="{allowedTools: [lint]}"))
    assert load(around()).policy_hash != before


@pytest.mark.parametrize("whose", ["own", "theirs"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("consent-config.yaml", "consentSystem: {version: '1.0.0', colour: red}"),
        ("sandbox-config.yaml", "sandboxConfig: [1]"),
        ("tool-manifest.yaml", "tools: 7"),
        ("policy.yaml", "policyVersion: '2'\nentries: []"),
        ("settings.yaml", "approvals: {passphrase: maybe}"),
    ],
)
def test_a_malformed_document_stops_with_its_place(
    around: MakeAround, request: pytest.FixtureRequest, whose: str, name: str, text: str
) -> None:
    """One clear error, with file and line and the status of a bad document, whosesoever it is."""
    folder: Path = request.getfixturevalue(whose)
    (folder / name).write_text(text)
    with pytest.raises(ConsentryError) as refused:
        load(around())
    where = refused.value.where
    assert refused.value.exit_status is ExitStatus.BAD_DOCUMENT
    assert where is not None
    assert where.file == str(folder / name)


@pytest.mark.parametrize("whose", ["own", "theirs"])
@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "loop"])
def test_what_is_no_plain_file_stops_with_its_place(
    around: MakeAround, request: pytest.FixtureRequest, whose: str, kind: str
) -> None:
    """An unreadable document is no empty one, and a pipe holds nobody."""
    folder: Path = request.getfixturevalue(whose)
    file = folder / "consent-config.yaml"
    if kind == "missing":
        file.symlink_to("nowhere")
    elif kind == "loop":
        file.symlink_to(file.name)
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    with pytest.raises(ConsentryError) as refused:
        load(around())
    assert refused.value.exit_status is ExitStatus.BAD_DOCUMENT
    assert str(file) in str(refused.value)
