"""The four types and `mint()`: what they take, what they stand for, and when there is no token."""

import json
from pathlib import Path
from typing import Any

import pydantic
import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.base.units import Duration
from consentry.decide.budgets import Budget
from consentry.decide.consent import Consent
from consentry.decide.gitoperations import GitLocalOperation
from consentry.decide.lasting import Lasts
from consentry.decide.machine import MachineScope
from consentry.decide.session import EndedWhy
from consentry.decide.tokens import (
    BaseToken,
    CapabilityBundle,
    FsReadWriteCapability,
    GitLocalOpsCapability,
    MintOrder,
    NpmInstallCapability,
    mint,
)
from consentry.record.eventfields import TOKEN_TYPES
from consentry.surface.lattice import Surface
from tests.decide.minting import PLACE, WIDE, FakeRecords, minted, need, order_for
from tests.decide.samples import (
    MINUTE,
    NOW,
    OTHER_DIGEST,
    OTHER_MACHINE,
    OWNER,
    consent,
    sample_id,
    session,
)

SOURCE = Path(__file__).parents[2] / "src/consentry"
HEAD: dict[str, Any] = {
    "token_id": sample_id("token"),
    "workflow": "paper",
    "workspace": PLACE,
    "tool": "build",
    "consent_id": sample_id("consent"),
    "minted_at": NOW,
    "expires_at": NOW.plus(MINUTE),
}
ALL: list[Any] = [
    NpmInstallCapability(packages=("left-pad@^1.0.0",), hosts=("example.com:443",), **HEAD),
    FsReadWriteCapability(read=("src/",), write=("out/*.txt",), **HEAD),
    GitLocalOpsCapability(operations=frozenset({GitLocalOperation.COMMIT}), **HEAD),
]
LOOKS = [GitLocalOperation(each) for each in ("status", "diff", "log", "show")]
BUNDLE = CapabilityBundle(npm=ALL[0], git=ALL[2], **HEAD)


@pytest.mark.parametrize("token", [*ALL, BUNDLE], ids=lambda each: type(each).__name__)
def test_the_types_are_frozen_typed_models(token: BaseToken) -> None:
    """TRUST §token-1: four of them, by these names, that take no change and no field besides."""
    assert isinstance(token, pydantic.BaseModel)
    assert type(token).__name__ in TOKEN_TYPES
    assert len(TOKEN_TYPES) == len([*ALL, BUNDLE])
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        token.workflow = "other"
    with pytest.raises(pydantic.ValidationError, match="Extra inputs"):
        type(token)(**{**dict(token), "more": 1})
    with pytest.raises(pydantic.ValidationError):
        type(token)(**{**dict(token), "workflow": 7})


@pytest.mark.parametrize("token", [*ALL, BUNDLE], ids=lambda each: type(each).__name__)
def test_a_token_goes_through_text_and_stays_the_same(token: BaseToken) -> None:
    """The digest is over all it says, in whatever order a set is."""
    again = type(token).from_text(token.text)
    assert (again, again.digest) == (token, token.digest)
    assert type(token).from_text(token.text.replace("paper", "other")).digest != token.digest
    for bad in ("{", "{}", json.dumps({**json.loads(token.text), "push": True})):
        with pytest.raises(BadInput) as refusal:
            type(token).from_text(bad)
        assert refusal.value.code is Code.DECISION_FIELD


def test_a_push_cannot_be_expressed() -> None:
    """TRUST §token-4: not as a field, not as an operation, not in a bundle; a commit can."""
    assert "push" not in GitLocalOpsCapability.model_fields
    assert not any(
        "push" in each or "fetch" in each or "pull" in each for each in GitLocalOperation
    )
    for field in ({"push": True}, {"operations": ["push"]}, {"operations": ["fetch"]}):
        with pytest.raises(pydantic.ValidationError):
            GitLocalOpsCapability(**{"operations": ["commit"], **HEAD, **field})
    with pytest.raises(pydantic.ValidationError):
        CapabilityBundle.model_validate(
            {**HEAD, "git": {**HEAD, "operations": ["commit"], "push": True}}
        )
    assert GitLocalOpsCapability(**{**HEAD, "operations": ["commit"]}).operations == {"commit"}


@pytest.mark.parametrize(
    ("capability", "fields"),
    [
        (NpmInstallCapability, {"packages": ("git+ssh://host/x",)}),
        (NpmInstallCapability, {"packages": ("https://host/x.tgz",)}),
        (NpmInstallCapability, {"packages": ("--registry=evil",)}),
        (NpmInstallCapability, {"packages": ("./../up",)}),
        (NpmInstallCapability, {"packages": ("left-pad@..",)}),
        (NpmInstallCapability, {"packages": ("left-pad@.",)}),
        (NpmInstallCapability, {"packages": ("--global",)}),
        (NpmInstallCapability, {"packages": "left-pad"}),
        (FsReadWriteCapability, {"read": ("/etc/passwd",)}),
        (FsReadWriteCapability, {"write": ("../up",)}),
        (FsReadWriteCapability, {"write": ("~/x",)}),
        (CapabilityBundle, {}),
    ],
)
def test_a_scope_that_means_something_else_is_refused(
    capability: type[Any], fields: dict[str, object]
) -> None:
    """Another source, an option, another folder, or nothing at all."""
    with pytest.raises(pydantic.ValidationError):
        capability(**HEAD, **fields)


def test_what_tokens_stand_for() -> None:
    """Each is compiled to a surface, and a bundle to all of its parts."""
    npm, files, git = (each.surface for each in ALL)
    assert npm == Surface.of(
        read=["./"],
        write=["node_modules/", "package.json", "package-lock.json"],
        net=["example.com:443"],
        run=["npm"],
    )
    assert files == Surface.of(read=["src/"], write=["out/*.txt"])
    assert git == Surface.of(read=["./"], write=[".git/"], run=["git"])
    assert BUNDLE.surface == npm | git
    scripts = NpmInstallCapability(run_scripts=True, **HEAD).surface
    assert scripts <= Surface.of(read=["./"], write=["./"], run=["npm", "sh", "node"])
    looks = GitLocalOpsCapability(**HEAD, operations=frozenset(LOOKS)).surface
    assert looks == Surface.of(read=["./"], run=["git"])


def test_a_minted_token_is_recorded_with_its_ground() -> None:
    """TRUST §token-2: id, digest, consent, workflow and budget; it ends when its life does."""
    given = consent(surface=WIDE)
    records = FakeRecords(given)
    token = minted(records, given, budget=Budget.of({"fs_write": 3}))
    [told] = records.minted
    assert (told.token_id, told.digest, told.consent_id) == (
        token.token_id,
        token.digest,
        given.consent_id,
    )
    assert (told.workflow, told.workspace, told.tool) == ("paper", PLACE, "build")
    assert (told.scope, told.grant_id) == ({"read": [], "write": ["out/"]}, None)
    assert records.budgets == [Budget.of({"fs_write": 3})]
    assert token.expires_at == NOW.plus(Duration(3_600_000))


def test_a_bundle_is_recorded_with_each_of_its_parts() -> None:
    """In one step, each with an id of its own."""
    given = consent(surface=WIDE)
    records = FakeRecords(given)
    scope = {"files": {"read": ["src/"]}, "git": {"operations": ["commit"]}}
    bundle = minted(records, given, CapabilityBundle, scope)
    assert bundle.files is not None
    assert [each.part_of for each in records.minted] == [None, bundle.token_id, bundle.token_id]
    assert len({each.token_id for each in records.minted}) == 3
    assert records.minted[1].digest == bundle.files.digest


def test_a_token_never_outlives_its_consent() -> None:
    """Nor half a day, whatever was asked for."""
    given = consent(Lasts.UNTIL, surface=WIDE)
    token = minted(FakeRecords(given), given)
    assert token.expires_at == given.terms.expires_at
    with pytest.raises(BadInput):
        minted(FakeRecords(given), given, life=Duration(13 * 3_600_000))
    with pytest.raises(BadInput):
        minted(FakeRecords(given), given, life=Duration(0))


def _revoked() -> Consent:
    return consent(surface=WIDE).revoked(OWNER, NOW)


REFUSED: dict[str, tuple[Consent, dict[str, Any]]] = {
    "revoked": (_revoked(), {}),
    "used": (consent(Lasts.ONCE, surface=WIDE).used(NOW), {}),
    "expired": (
        consent(Lasts.UNTIL, surface=WIDE, expires_at=NOW),
        {"at": NOW.plus(Duration(1))},
    ),
    "session over": (
        consent(Lasts.SESSION, surface=WIDE),
        {"session": session().ended(NOW, EndedWhy.ENDED)},
    ),
    "no session": (consent(Lasts.SESSION, surface=WIDE), {}),
    "other machine": (consent(surface=WIDE, machine_scope=MachineScope(OTHER_MACHINE)), {}),
    "other tool": (consent(surface=WIDE, tool="lint"), {}),
    "other version": (consent(surface=WIDE, version="0.9.0"), {}),
    "other bytes": (consent(surface=WIDE, digest=OTHER_DIGEST), {}),
    "other workspace": (consent(surface=WIDE), {"elsewhere": frozenset({sample_id("consent")})}),
    "smaller surface": (consent(surface=Surface.of(read=["./"], write=["log/"])), {}),
    "policy changed": (consent(surface=WIDE, policy_hash=OTHER_DIGEST), {}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_consent_that_does_not_hold_or_cover_mints_nothing(name: str) -> None:
    """TRUST §token-2: one typed refusal each, and nothing is recorded."""
    given, changes = REFUSED[name]
    now = changes.pop("at", NOW) if changes else NOW
    records = FakeRecords(given)
    records.clock.set_to(now)  # type: ignore[attr-defined]
    with pytest.raises(Refused) as refusal:
        minted(records, given, needs=need(**changes))
    assert refusal.value.code is Code.MINT_REFUSED
    assert given.consent_id in refusal.value.message
    assert records.minted == []


def test_a_consent_nobody_gave_mints_nothing() -> None:
    """TRUST §token-2."""
    with pytest.raises(Refused, match="no consent has the id") as refusal:
        minted(FakeRecords(), consent())
    assert refusal.value.code is Code.MINT_REFUSED


def test_the_session_of_the_consent_goes_on_and_the_same_mints() -> None:
    """The other side of the refusals: what holds, holds."""
    given = consent(Lasts.SESSION, surface=WIDE)
    assert minted(FakeRecords(given), given, needs=need(session=session()))
    once = consent(Lasts.ONCE, surface=WIDE)
    assert minted(FakeRecords(once), once)


def test_without_the_check_every_refused_consent_mints(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control taken away: what was refused above was refused by it."""
    monkeypatch.setattr("consentry.decide.tokens.lack_of", lambda *_: None)
    for given, _ in REFUSED.values():
        if given.terms.lasts is not Lasts.UNTIL:  # one that has ended has no life to give
            assert minted(FakeRecords(given), given).write == ("out/",)


@pytest.mark.parametrize(
    "scope", [{"push": True}, {"write": "out"}, {"write": ["/etc"]}, {"token_id": "mine"}]
)
def test_a_bad_field_is_one_typed_error_that_names_it(scope: dict[str, object]) -> None:
    """No traceback of the library behind it."""
    given = consent(surface=WIDE)
    with pytest.raises(BadInput) as refusal:
        minted(FakeRecords(given), given, FsReadWriteCapability, scope)
    assert refusal.value.code is Code.DECISION_FIELD


def test_the_order_decides_the_head_and_not_the_scope() -> None:
    """A scope that names a consent, workspace or end of its own changes none of them."""
    given = consent(surface=WIDE)
    records = FakeRecords(given)
    scope = {"write": ["out/"], "workspace": "/elsewhere", "expires_at": NOW.plus(MINUTE)}
    token = mint(FsReadWriteCapability, scope, order_for(given), need(), records)
    assert (token.workspace, token.expires_at) == (PLACE, NOW.plus(Duration(3_600_000)))
    assert isinstance(order_for(given), MintOrder)


def test_only_the_home_of_the_tokens_imports_pydantic_in_the_core() -> None:
    """CONTRACTS §7-tokens."""
    rooms = ("base", "surface", "record", "decide", "enforce")
    found = {
        str(path.relative_to(SOURCE))
        for room in rooms
        for path in (SOURCE / room).rglob("*.py")
        if "import pydantic" in path.read_text() or "from pydantic" in path.read_text()
    }
    assert found == {"decide/tokens.py"}
