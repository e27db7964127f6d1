"""`consentry tokens`: what was minted, what was done with it, and what is left."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.units import Duration
from consentry.decide.identity import Identity
from consentry.decide.tokens import CapabilityBundle, FsReadWriteCapability
from consentry.service.consenting import consents_of
from consentry.service.tokenfiles import TokenFiles
from tests.cli.conftest import CommandLine, assert_error
from tests.service.tokening import Place, place_of

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def place(line: CommandLine) -> Iterator[Place]:
    """A project, a consent, and a program that mints."""
    with place_of(line) as made:
        yield made


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    """A user without anything."""
    home, project = tmp_path / "homes/me", tmp_path / "work/project"
    home.mkdir(parents=True)
    project.mkdir(parents=True)
    return CommandLine(project, {"HOME": str(home), "PATH": "/usr/bin:/bin"})


def test_tokens_are_listed_with_their_uses(place: Place) -> None:
    """Those that are good; with `--all` those that are not, and of one workflow where it is named."""
    scope = {"read": ["./"], "write": ["./"]}
    token = place.mint(FsReadWriteCapability, scope, budget={"fs_write": 3})
    brief = place.mint(FsReadWriteCapability, scope, life=Duration(1), workflow="other")
    TokenFiles.of(place.desk, token).create("new.txt", b"")
    assert place.line("tokens", "list", "--quiet").out.split() == [token.token_id]
    assert "used 1 times" in place.line("tokens", "list").out
    found = json.loads(place.line("tokens", "list", "--all", "--json").out)
    assert found["kind"] == "token-list"
    assert [(each["tokenId"], each["standing"], each["uses"]) for each in found["tokens"]] == [
        (token.token_id, "good", 1),
        (brief.token_id, "expired", 0),
    ]
    only = place.line("tokens", "list", "--all", "--workflow", "other", "--quiet")
    assert only.out.split() == [brief.token_id]


def test_one_token_is_shown_with_every_use_and_its_budget(place: Place) -> None:
    """TRUST §token-6: what the budget reads is what is shown."""
    scope = {"files": {"read": ["./"], "write": ["./"]}}
    bundle = place.mint(CapabilityBundle, scope, budget={"fs_write": 3})
    files = TokenFiles.of(place.desk, bundle)
    files.create("new.txt", b"")
    files.read("new.txt")
    shown = json.loads(place.line("tokens", "show", bundle.files.token_id, "--json").out)
    assert shown["kind"] == "token"
    assert [(each["kind"], each["operation"], each["target"]) for each in shown["uses"]] == [
        ("fs_write", "create", "new.txt"),
        ("fs_read", "read", "new.txt"),
    ]
    assert shown["budget"] == [
        {"kind": "fs_read", "most": None, "uses": 1, "left": None},
        {"kind": "fs_write", "most": 3, "uses": 1, "left": 2},
    ]
    assert shown["token"]["partOf"] == bundle.token_id
    text = place.line("tokens", "show", bundle.files.token_id).out
    assert "fs_write: 1 of 3 done, 2 left" in text
    assert place.line("tokens", "show", bundle.token_id, "--quiet").out == "good\n"


def test_a_token_whose_consent_was_revoked_is_said_to_be(place: Place) -> None:
    """And is left out of those that are good."""
    token = place.mint(FsReadWriteCapability, {"read": ["./"]})
    actor = Identity(place.desk.journal.context.actor)
    consents_of(place.desk.journal).revoke(place.consent, actor)
    assert place.line("tokens", "list", "--quiet").out == ""
    assert place.line("tokens", "list").out == "no token is good now\n"
    assert place.line("tokens", "show", token.token_id, "--quiet").out == "revoked\n"


def test_what_is_not_there_is_said_so(line: CommandLine) -> None:
    """No ledger is made by looking; no token has that id; there is no command that mints."""
    assert line("tokens", "list").out == "no token is good now\n"
    assert not (Path(line.environ["HOME"]) / ".local/state").exists()
    assert_error(line("tokens", "show", "token-0198c2f4"), Code.ID_UNKNOWN)
    assert_error(line("tokens", "mint"), Code.USAGE)
    assert line("tokens").status == 2


def test_an_id_may_be_begun(place: Place) -> None:
    """As long as one token alone begins so."""
    first = place.mint(FsReadWriteCapability, {"read": ["./"]})
    place.mint(FsReadWriteCapability, {"read": ["./"]})
    assert_error(place.line("tokens", "show", first.token_id[:11]), Code.ID_AMBIGUOUS)
    assert place.line("tokens", "show", first.token_id[6:], "-q").out == "good\n"


def test_a_name_made_to_deceive_is_shown_as_it_is(place: Place) -> None:
    """What a program calls its files goes through the renderer."""
    token = place.mint(FsReadWriteCapability, {"write": ["./"]})
    TokenFiles.of(place.desk, token).create("a\x1b[2Jb", b"")
    shown = place.line("tokens", "show", token.token_id).out
    assert "\x1b" not in shown
    assert "b" in shown
