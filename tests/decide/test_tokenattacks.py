"""Attacks on `mint()` itself: types and parts of the caller's own making, and names that mislead."""

from typing import Any

import pytest

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.decide.gitoperations import GitLocalOperation
from consentry.decide.tokenparts import part_of
from consentry.decide.tokens import (
    BaseToken,
    CapabilityBundle,
    FsReadWriteCapability,
    GitLocalOpsCapability,
    mint,
)
from consentry.surface.lattice import NOTHING, Surface
from tests.decide.minting import WIDE, FakeRecords, minted, need, order_for
from tests.decide.samples import MINUTE, consent


class _Quiet(FsReadWriteCapability):
    """Says of itself that it stands for nothing."""

    @property
    def surface(self) -> Surface:
        return NOTHING


def test_a_part_of_somebodys_making_is_not_minted_with_a_bundle() -> None:
    """TRUST §token-2: workflow, workspace and end of a part are the order's; fields alone are taken."""
    given = consent(surface=WIDE)
    records = FakeRecords(given)
    known = minted(records, given)
    later = known.expires_at.plus(MINUTE)
    forged = known.model_copy(
        update={"workspace": "/elsewhere", "workflow": "free", "expires_at": later}
    )
    before = len(records.minted)
    for part in (forged, known, [("read", ["./"])], "./"):
        with pytest.raises(BadInput) as refusal:
            minted(records, given, CapabilityBundle, {"files": part})
        assert refusal.value.code is Code.DECISION_FIELD
    assert len(records.minted) == before
    bundle = minted(records, given, CapabilityBundle, {"files": {"read": ["./"]}, "git": None})
    assert bundle.files is not None
    assert (bundle.files.workspace, bundle.files.expires_at) == (
        bundle.workspace,
        bundle.expires_at,
    )


@pytest.mark.parametrize("capability", [_Quiet, BaseToken, dict, "FsReadWriteCapability", None, []])
def test_only_the_four_types_are_minted(capability: Any) -> None:
    """TRUST §token-1: a derived type could deny what it stands for, and be covered by any consent."""
    given = consent(surface=NOTHING)
    records = FakeRecords(given)
    with pytest.raises(BadInput) as refusal:
        mint(capability, {"read": ["./"]}, order_for(given), need(), records)
    assert refusal.value.code is Code.DECISION_FIELD
    assert not records.minted


@pytest.mark.parametrize(
    "workflow",
    ["", " paper", "pa\nper", "paper\u200b", "\x1b[31m", "e\u0301", "\ud800", "\0", "x" * 201],
)
def test_a_workflow_that_looks_like_another_is_refused(workflow: str) -> None:
    """TRUST §token-6: a budget is told by the workflow's name; spellings that cannot be seen are none."""
    given = consent(surface=WIDE)
    records = FakeRecords(given)
    with pytest.raises(BadInput) as refusal:
        minted(records, given, workflow=workflow)
    assert refusal.value.code is Code.DECISION_FIELD
    assert not records.minted
    assert minted(records, given, workflow="é " + "x" * 198).workflow.startswith("é")


def test_half_a_surrogate_pair_is_one_typed_error() -> None:
    """A pattern that no path can be ends like every other bad field."""
    given = consent(surface=WIDE)
    with pytest.raises(BadInput) as refusal:
        minted(FakeRecords(given), given, FsReadWriteCapability, {"read": ["\ud800"]})
    assert refusal.value.code is Code.DECISION_FIELD


class _Posing(FsReadWriteCapability):
    """Has the digest of another token."""

    @property
    def digest(self) -> Digest:
        return _KNOWN[0].digest


class _All(frozenset[GitLocalOperation]):
    """Has every operation when it is asked, and tells of the few that were minted."""

    def __contains__(self, _: object) -> bool:
        return True


_KNOWN: list[FsReadWriteCapability] = []


def test_a_derived_class_does_not_speak_for_a_token() -> None:
    """TRUST §token-3: what is held against the ledger is what the token says, not what its class does."""
    given = consent(surface=WIDE)
    records = FakeRecords(given)
    known = minted(records, given)
    _KNOWN[:] = [known]
    posing = _Posing(**{**dict(known), "write": ("./",)})
    assert posing.digest == known.digest
    for token in (posing, CapabilityBundle.model_construct(**{**dict(known), "files": posing})):
        with pytest.raises(Refused) as refusal:
            part_of(token, FsReadWriteCapability)
        assert refusal.value.code is Code.TOKEN_REFUSED
    assert part_of(known, FsReadWriteCapability) == known


def test_a_set_does_not_speak_for_a_token() -> None:
    """The operations are those that the digest is over."""
    given = consent(surface=WIDE)
    known = minted(FakeRecords(given), given, GitLocalOpsCapability, {"operations": ["log"]})
    forged = GitLocalOpsCapability.model_construct(
        **{**dict(known), "operations": _All(known.operations)}
    )
    assert "commit" in forged.operations
    held = part_of(forged, GitLocalOpsCapability)
    assert (held, "commit" in held.operations) == (known, False)
    for broken in (
        GitLocalOpsCapability.model_construct(operations=known.operations),
        GitLocalOpsCapability.model_construct(**{**dict(known), "operations": {"push"}}),
        GitLocalOpsCapability.model_construct(**{**dict(known), "workflow": object()}),
    ):
        with pytest.raises(Refused) as refusal:
            part_of(broken, GitLocalOpsCapability)
        assert refusal.value.code is Code.TOKEN_REFUSED
