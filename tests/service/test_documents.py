"""Documents are read once, by descriptor, in bounds; what is hashed is what is parsed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.canonical import digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.acceptance import AsIfAccepted, NothingAccepted
from consentry.declare.source import MOST_BYTES
from consentry.declare.tool import ConsentLevel, Origin
from consentry.service import documents as documents_module
from consentry.service.configuration import load_configuration
from consentry.service.documents import MOST_DOCUMENTS, FolderDocuments
from consentry.service.places import find_configuration, find_workspace
from consentry.service.surroundings import Surroundings
from tests.service.configuring import levels_text, load, tool_text, write

MakeAround = Callable[..., Surroundings]


@pytest.fixture
def theirs(project: Path) -> Path:
    """A clone that lists its tool under `none`."""
    return write(
        project / ".consentry",
        check=tool_text("check"),
        consent_config=levels_text(none="{allowedTools: [check]}"),
    )


def folder_of(around: Surroundings) -> FolderDocuments:
    """The workspace's folder as discovery finds it."""
    found = find_configuration(around, find_workspace(around))
    return FolderDocuments(found.folders[-1])


class _SwapOnQuestion:
    """Swaps a file at the moment the store is asked: between the digest and the parse."""

    def __init__(self, file: Path, text: str) -> None:
        self._file, self._text = file, text

    def has_any(self, workspace: str) -> bool:  # noqa: ARG002 - as every other
        """Something was accepted."""
        return True

    def standing(self, workspace: str) -> None:
        """Not asked for."""

    def is_accepted(self, workspace: str, digest: str) -> bool:  # noqa: ARG002 - as every other
        """What is in memory is; then the file becomes another."""
        self._file.write_text(self._text)
        return True


def test_a_file_swapped_between_digest_and_parse_does_not_matter(
    around: MakeAround, theirs: Path
) -> None:
    """The attack: accepted bytes are hashed, and others put in their place before they are parsed."""
    manifest = theirs / "tools/check.yaml"
    swapped = tool_text("check", description="Something else", risk="critical")
    here = around()
    swap = _SwapOnQuestion(manifest, swapped)
    effective = load_configuration(here, find_workspace(here), None, swap)
    assert manifest.read_text() == swapped
    tool = effective.tool("check")
    assert (tool.manifest.description, tool.is_accepted) == ("Does something", True)
    assert effective.strangers[".consentry/tools/check.yaml"] == digest_bytes(
        tool_text("check").encode()
    )
    again = load(here, NothingAccepted())
    assert again.tool("check").manifest.description == "Something else"


def test_each_file_is_opened_once(
    around: MakeAround, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often a document is asked for."""
    opened: list[str] = []
    real = documents_module._content

    def counted(descriptor: int, path: Path) -> bytes:
        opened.append(path.name)
        return real(descriptor, path)

    monkeypatch.setattr(documents_module, "_content", counted)
    effective = load(around(), AsIfAccepted())
    effective.tool("check")
    effective.tool("check")
    assert sorted(opened) == ["check.yaml", "consent-config.yaml"]
    assert theirs.exists()


def test_a_link_in_a_strangers_folder_that_leads_out_is_refused(
    around: MakeAround, theirs: Path, home: Path
) -> None:
    """A clone cannot have a file of the user's read as its document; a link inside will do."""
    secret = home / "secret.yaml"
    secret.write_text("tool: {name: secret}")
    (theirs / "tools/secret.yaml").symlink_to(secret)
    with pytest.raises(ConsentryError, match="cannot be read") as refused:
        load(around())
    assert refused.value.code is Code.CONFIG_FILE
    (theirs / "tools/secret.yaml").unlink()
    (theirs / "kept.yaml").write_text(tool_text("other"))
    (theirs / "tools/other.yaml").symlink_to("../kept.yaml")
    assert set(load(around()).tools) == {"check", "other"}


def test_a_workspace_folder_that_leads_into_own_configuration_stays_a_strangers(
    around: MakeAround, home: Path, project: Path
) -> None:
    """The attack: a link to the user's own folder makes nothing of the workspace's count as own.

    The same documents count where they are: the user's own tool has the level that they list.
    """
    own = write(
        home / ".config/consentry",
        check=tool_text("check"),
        consent_config=levels_text(none="{allowedTools: [check]}"),
    )
    (project / ".consentry").symlink_to(own)
    effective = load(around())
    tool = effective.tool("check")
    assert (tool.origin, tool.file) == (Origin.OWN, own / "tools/check.yaml")
    assert effective.level_of(tool).level is ConsentLevel.NONE
    named = load(around(), named=".consentry").tool("check")
    assert (named.origin, named.is_trusted) == (Origin.WORKSPACE, False)


@pytest.mark.parametrize("what", ["folder", "file"])
def test_own_configuration_that_leads_into_the_workspace_is_refused(
    around: MakeAround, home: Path, theirs: Path, what: str
) -> None:
    """The other way round: a link of the user's through which the clone would speak for them."""
    own = home / ".config/consentry"
    if what == "folder":
        own.parent.mkdir(parents=True)
        own.symlink_to(theirs)
        effective = load(around())
        assert not effective.tool("check").is_trusted
        assert effective.level_of(effective.tool("check")).level is ConsentLevel.EXPLICIT
        return
    own.mkdir(parents=True)
    (own / "consent-config.yaml").symlink_to(theirs / "consent-config.yaml")
    with pytest.raises(ConsentryError) as refused:
        load(around())
    assert refused.value.code is Code.CONFIG_UNSAFE


def test_an_index_names_nothing_outside_of_its_folder(
    around: MakeAround, home: Path, tmp_path: Path
) -> None:
    """Neither by `..`, which the reader refuses, nor through a link."""
    own = write(home / ".config/consentry", tool_manifest="tools: [{name: x, file: more/x.yaml}]")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.yaml").write_text(tool_text("x"))
    (own / "more").symlink_to(outside)
    with pytest.raises(ConsentryError, match="cannot be read"):
        load(around())
    (own / "more").unlink()
    (own / "more").mkdir()
    (own / "more/x.yaml").write_text(tool_text("x"))
    assert load(around()).tool("x").is_trusted


def test_too_much_is_refused_with_its_place(around: MakeAround, theirs: Path) -> None:
    """One large document, and many small ones."""
    (theirs / "consent-config.yaml").write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(ConsentryError) as refused:
        load(around())
    assert refused.value.code is Code.DOCUMENT_INVALID
    (theirs / "consent-config.yaml").unlink()
    for number in range(MOST_DOCUMENTS + 1):
        (theirs / f"tools/t{number}.yaml").write_text("")
    with pytest.raises(ConsentryError, match="more than") as many:
        load(around())
    assert many.value.code is Code.CONFIG_FILE


def test_a_name_that_is_no_tools_is_not_read(around: MakeAround, theirs: Path) -> None:
    """A byte that is not UTF-8, and capitals: no tool, told, and in no digest."""
    for name in (b"\xff.yaml", b"Upper.yaml"):
        (theirs / "tools" / os.fsdecode(name)).write_text("nonsense: [")
    effective = load(around(), AsIfAccepted())
    assert list(effective.tools) == ["check"]
    assert len(effective.ignored) == 2
    assert sorted(effective.strangers) == [
        ".consentry/consent-config.yaml",
        ".consentry/tools/check.yaml",
    ]


def test_what_goes_after_it_was_seen_is_missing(around: MakeAround, theirs: Path) -> None:
    """A manifest that disappears between discovery and reading: one clear error."""
    folder = folder_of(around())
    (theirs / "tools/check.yaml").unlink()
    with pytest.raises(ConsentryError, match="cannot be read") as gone:
        folder.find("tools/check.yaml")
    assert gone.value.code is Code.CONFIG_FILE
