"""Operations that run with a token: in the box with one that was minted, and not at all without."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.decide.identity import Identity
from consentry.decide.tokens import (
    CapabilityBundle,
    FsReadWriteCapability,
    GitLocalOpsCapability,
    NpmInstallCapability,
)
from consentry.service.consenting import consents_of
from consentry.service.tokenfiles import TokenFiles
from consentry.service.tokens import TokenDesk
from tests.cli.conftest import CommandLine
from tests.service.tokening import STEWARD, TOOL, Place, place_of
from tests.store.keepers import events

pytestmark = pytest.mark.timeout(120)

COMMITS = {"operations": ["add", "commit", "log", "status", "switch", "merge", "branch", "tag"]}


@pytest.fixture
def place(home: Path, project: Path) -> Iterator[Place]:
    """A project with one commit, and a consent."""
    with place_of(CommandLine(project, {"HOME": str(home), "PATH": "/usr/bin:/bin"})) as made:
        yield made


def commit(desk: TokenDesk, token: object, **named: Any) -> Any:
    """One commit under a token."""
    return desk.git_local(
        token, "commit", ["--allow-empty", "-m", "two"], identity=STEWARD, **named
    )


def code_of(call: Callable[[], object]) -> Code | None:
    """What it is refused with."""
    try:
        call()
    except ConsentryError as problem:
        return problem.code
    return None


def commits(place: Place) -> int:
    """How many there are, as plain git counts them."""
    return int(place.git("rev-list", "--count", "HEAD"))


def recorded(place: Place) -> list[dict[str, Any]]:
    """All events."""
    return events(place.desk.journal.ledger)


def test_git_commits_in_the_box_with_a_token(place: Place) -> None:
    """TRUST §token-3: the use is on record before the run, whose record names the token."""
    token = place.mint(GitLocalOpsCapability, COMMITS)
    (place.project / "b.txt").write_text("b\n")
    assert place.desk.git_local(token, "add", ["b.txt"]).status == "success"
    done = commit(place.desk, token)
    assert (done.status, done.violations) == ("success", ())
    assert place.git("log", "-1", "--format=%an %s") == "Steward two\n"
    assert (done.record["sandbox"]["engine"], done.record["user"]["tokenId"]) == (
        "native",
        token.token_id,
    )
    types = [each["type"] for each in recorded(place)]
    used = types.index("CapabilityUsed")
    decided, permitted, audited = map(types.index, ("run.decided", "permit.spent", "tool.audit"))
    assert decided < used < permitted < audited
    told = recorded(place)[used]["payload"]
    assert (told["tokenId"], told["operation"]) == (token.token_id, "add")


def test_git_does_its_other_local_work(place: Place) -> None:
    """Branches, a merge of them and a tag, each really there."""
    token = place.mint(GitLocalOpsCapability, COMMITS)
    for words in (
        ("switch", ["-c", "side"]),
        ("commit", ["--allow-empty", "-m", "aside"]),
        ("switch", ["main"]),
        ("merge", ["--no-ff", "-m", "join", "side"]),
        ("tag", ["-a", "v1", "-m", "first"]),
        ("branch", ["-d", "side"]),
    ):
        done = place.desk.git_local(token, words[0], words[1], identity=STEWARD)
        assert done.status == "success", done.stderr
    assert place.git("log", "-1", "--format=%s") == "join\n"
    assert place.git("tag").strip() == "v1"
    assert place.git("branch", "--format=%(refname:short)").split() == ["main"]


def test_without_its_token_nothing_is_committed(place: Place, tmp_path: Path) -> None:
    """No token, one of another kind, for other operations, another workspace, expired, or revoked."""
    token = place.mint(GitLocalOpsCapability, COMMITS)
    looks = place.mint(GitLocalOpsCapability, {"operations": ["log"]})
    files = place.mint(FsReadWriteCapability, {"write": ["./"]})
    brief = place.mint(GitLocalOpsCapability, COMMITS, life=Duration(1))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    time.sleep(0.01)
    by_hand = GitLocalOpsCapability(**{**dict(token), "token_id": looks.token_id})
    tried: list[Callable[[], object]] = [
        lambda: commit(place.desk, None),
        lambda: commit(place.desk, dict(token)),
        lambda: commit(place.desk, files),
        lambda: commit(place.desk, looks),
        lambda: commit(place.desk, brief),
        lambda: commit(place.desk, by_hand),
        lambda: commit(place.desk, token, workspace=elsewhere),
        lambda: commit(place.desk, token.model_copy(update={"workspace": str(elsewhere)})),
    ]
    assert [code_of(each) for each in tried] == [Code.TOKEN_REFUSED] * len(tried)
    revoked_by = Identity(place.desk.journal.context.actor)
    consents_of(place.desk.journal).revoke(place.consent, revoked_by)
    assert code_of(lambda: commit(place.desk, token)) is Code.TOKEN_REFUSED
    assert commits(place) == 1
    assert "CapabilityUsed" not in [each["type"] for each in recorded(place)]


def test_with_the_check_off_a_forged_token_commits(place: Place) -> None:
    """The control taken away: made by hand, never minted, and git runs."""
    token = place.mint(GitLocalOpsCapability, COMMITS, life=Duration(1))
    time.sleep(0.01)
    forged = token.model_copy(
        update={"token_id": place.mint(GitLocalOpsCapability, {"operations": ["log"]}).token_id}
    )
    assert code_of(lambda: commit(place.desk, forged)) is Code.TOKEN_REFUSED
    assert commit(place.unsafe, forged).status == "success"
    assert commits(place) == 2


def test_a_refused_token_is_on_record_as_a_run_that_was_denied(place: Place) -> None:
    """With the code, and without a consent that nobody gave for it."""
    token = place.mint(GitLocalOpsCapability, COMMITS)
    forged = token.model_copy(update={"workflow": "other"})
    assert code_of(lambda: commit(place.desk, forged)) is Code.TOKEN_REFUSED
    entry = next(each["payload"] for each in recorded(place) if each["type"] == "tool.audit")
    assert entry["execution"]["problem"]["code"] == Code.TOKEN_REFUSED
    assert (entry["execution"]["status"], entry["user"]["consentGiven"]) == ("denied", False)


def test_a_budget_stops_the_next_run(place: Place) -> None:
    """TRUST §token-6: one commit, and no second."""
    token = place.mint(GitLocalOpsCapability, COMMITS, budget={"git_local": 1})
    assert commit(place.desk, token).status == "success"
    assert code_of(lambda: commit(place.desk, token)) is Code.BUDGET_EXHAUSTED
    assert commits(place) == 2


def test_a_bundle_works_for_each_of_its_parts(place: Place) -> None:
    """And for nothing that it has not; a use is of the part."""
    scope = {"files": {"read": ["./"], "write": ["./"]}, "git": COMMITS}
    bundle = place.mint(CapabilityBundle, scope)
    TokenFiles.of(place.desk, bundle).create("b.txt", b"b")
    assert commit(place.desk, bundle).status == "success"
    assert code_of(lambda: place.desk.npm_install(bundle)) is Code.TOKEN_REFUSED
    used = [
        each["payload"]["tokenId"] for each in recorded(place) if each["type"] == "CapabilityUsed"
    ]
    assert used == [bundle.files.token_id, bundle.git.token_id]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"consent_id": "consent-00000000-0000-7000-8000-000000000001"}, Code.MINT_REFUSED),
        ({"tool": "no-such-tool"}, Code.TOOL_UNKNOWN),
    ],
)
def test_a_mint_without_ground_is_refused(
    place: Place, changes: dict[str, Any], code: Code
) -> None:
    """TRUST §token-2: no such consent, or no such tool any more."""
    assert code_of(lambda: place.mint(GitLocalOpsCapability, COMMITS, **changes)) is code
    assert "CapabilityMinted" not in [each["type"] for each in recorded(place)]


def test_a_tool_that_changed_has_no_consent_to_mint_from(place: Place) -> None:
    """Consent binds to bytes: the manifest says something else now."""
    place.mint(GitLocalOpsCapability, COMMITS)
    file = Path(place.line.environ["HOME"]) / ".config/consentry/tools/steward.yaml"
    file.write_text(file.read_text().replace("in order", "in disorder"))
    assert code_of(lambda: place.mint(GitLocalOpsCapability, COMMITS)) is Code.MINT_REFUSED


def test_a_token_beyond_the_tools_surface_is_refused(place: Place) -> None:
    """What was never agreed to: another host."""
    scope = {"packages": ["left-pad"], "hosts": ["example.com:443"]}
    assert code_of(lambda: place.mint(NpmInstallCapability, scope)) is Code.MINT_REFUSED
    assert place.mint(NpmInstallCapability, {**scope, "hosts": ["localhost:80"]})


def test_a_session_that_is_over_ends_its_tokens(place: Place) -> None:
    """The consent was for the session of the program that asked."""
    token = place.mint(GitLocalOpsCapability, COMMITS)
    place.manager.close()
    assert code_of(lambda: commit(place.desk, token)) is Code.TOKEN_REFUSED
    assert code_of(lambda: place.mint(GitLocalOpsCapability, COMMITS)) is Code.MINT_REFUSED
    assert commits(place) == 1
    assert TOOL == "steward"
