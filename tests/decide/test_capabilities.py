"""Saved capabilities: what they are, and which set they run in (ESCALATION §set-1, §set-2)."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.decide.capabilities import (
    FIELDS,
    MOST_CODE,
    PERMISSION_CONFIDENCE_THRESHOLD,
    Capability,
    Inferred,
    Language,
    PermissionSource,
    check_code,
    check_name,
    determine_permission_set,
    digest_of_code,
)
from consentry.examine.inference import UNREADABLE, infer_permissions
from consentry.record.events import EventType
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import MINUTE, NOW, sample_id

LATER = NOW.plus(MINUTE)
CODE = "return await fetch('https://api.example.com/data');"
SHARES = st.floats(0, 1)
INFERABLE = [each for each in PermissionSet if each is not PermissionSet.TRUSTED]


def capability(**changes: object) -> Capability:
    """One that was inferred to reach the network."""
    fields: dict[str, Any] = {
        "capability_id": sample_id("capability"),
        "name": "fetch-feed",
        "language": Language.TYPESCRIPT,
        "code": CODE,
        "code_hash": digest_of_code(str(changes.get("code", CODE))),
        "version": 1,
        "permission_set": PermissionSet.NETWORK_API,
        "permission_confidence": 0.95,
        "permission_source": PermissionSource.EMERGENT,
        "detected_patterns": ("fetch", "net:api.example.com:443"),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Capability(**{**fields, **changes})


# ---- which set it runs in


def test_a_capability_executes_with_its_inferred_set() -> None:
    """ESCALATION §set-1: from the code, by inference, to the set it runs in."""
    for code, expected in (
        (CODE, PermissionSet.NETWORK_API),
        ("return await Deno.readTextFile('./data/a.csv');", PermissionSet.READONLY),
        ("return await Deno.readTextFile('README.md');", PermissionSet.FILESYSTEM),
        ("return Deno.env.get('HOME');", PermissionSet.MCP_STANDARD),
        ("return 1 + 1;", PermissionSet.MINIMAL),
    ):
        found = infer_permissions(code, Language.TYPESCRIPT)
        saved = capability(
            code=code,
            permission_set=found.permission_set,
            permission_confidence=found.confidence,
            detected_patterns=found.detected_patterns,
        )
        assert determine_permission_set(saved) is expected


@pytest.mark.parametrize("stored", INFERABLE)
def test_what_was_inferred_surely_is_what_it_runs_in(stored: PermissionSet) -> None:
    """ESCALATION §set-1: at the threshold and above, the stored set."""
    for confidence in (PERMISSION_CONFIDENCE_THRESHOLD, 0.75, 0.95, 1.0):
        made = capability(permission_set=stored, permission_confidence=confidence)
        assert determine_permission_set(made) is stored


@pytest.mark.parametrize("stored", INFERABLE)
def test_confidence_below_the_threshold_falls_back_to_minimal(stored: PermissionSet) -> None:
    """ESCALATION §set-2: 0.7 is the threshold, and less is a guess."""
    assert PERMISSION_CONFIDENCE_THRESHOLD == 0.7
    for confidence in (0.0, 0.5, 0.6, 0.69, 0.6999999):
        made = capability(permission_set=stored, permission_confidence=confidence)
        assert determine_permission_set(made) is PermissionSet.MINIMAL


@given(st.sampled_from(PermissionSet), SHARES)
def test_what_was_set_by_hand_holds_whatever_the_confidence(
    stored: PermissionSet, confidence: float
) -> None:
    """CONTRACTS §5: source `manual`, the stored set."""
    made = capability(
        permission_set=stored,
        permission_confidence=confidence,
        permission_source=PermissionSource.MANUAL,
    )
    assert determine_permission_set(made) is stored


@given(st.sampled_from(PermissionSet), SHARES, st.sampled_from(PermissionSource))
def test_the_parts_say_the_same_as_the_capability(
    stored: PermissionSet, confidence: float, source: PermissionSource
) -> None:
    """By keywords for whoever has no capability; and `trusted` never without a hand."""
    found = determine_permission_set(permission_set=stored, confidence=confidence, source=source)
    if stored is not PermissionSet.TRUSTED or source is PermissionSource.MANUAL:
        made = capability(
            permission_set=stored, permission_confidence=confidence, permission_source=source
        )
        assert found is determine_permission_set(made)
    else:
        assert found is PermissionSet.MINIMAL


def test_a_confidence_that_is_no_number_opens_nothing() -> None:
    """NaN is not above any threshold."""
    found = determine_permission_set(
        permission_set=PermissionSet.MCP_STANDARD,
        confidence=float("nan"),
        source=PermissionSource.EMERGENT,
    )
    assert found is PermissionSet.MINIMAL


def test_code_that_does_not_parse_is_saved_and_runs_as_minimal() -> None:
    """CONTRACTS §5: minimal with 0.0, and the save still succeeds."""
    found = infer_permissions("const = ;", Language.TYPESCRIPT)
    assert found == UNREADABLE
    made = capability().with_code(Language.TYPESCRIPT, "const = ;", found, LATER)
    assert determine_permission_set(made) is PermissionSet.MINIMAL


# ---- what it is


def test_it_is_the_payload_of_its_event_and_read_back_the_same() -> None:
    """The fields of `workflow.pattern.saved`, in their order, through canonical JSON."""
    made = capability(permission_confidence=1.0)
    document = made.to_json()
    assert tuple(document) == FIELDS == EventType.WORKFLOW_PATTERN_SAVED.fields
    read = Capability.from_json(json.loads(canonical_json(document)))
    assert read == made
    assert made.subject == f"capability:{made.capability_id}"


def test_each_field_that_is_missing_strange_or_of_another_type_is_refused_by_name() -> None:
    """Nothing is guessed or repaired."""
    document = json.loads(canonical_json(capability().to_json()))
    with pytest.raises(BadInput, match="stranger"):
        Capability.from_json({**document, "stranger": 1})
    for name in FIELDS:
        with pytest.raises(BadInput) as caught:
            Capability.from_json({key: value for key, value in document.items() if key != name})
        assert caught.value.where is not None
        assert caught.value.where.field == name
        for wrong in (None, True, {"a": 1}, [1], "\0", "\ud800", -1):
            with pytest.raises(BadInput):
                Capability.from_json({**document, name: wrong})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"capability_id": "pattern-1"}, "id"),
        ({"name": "Fetch Feed"}, "name"),
        ({"code_hash": digest_bytes(b"something else")}, "codeHash"),
        ({"version": 0}, "version"),
        ({"permission_confidence": 1.01}, "permissionConfidence"),
        ({"permission_confidence": float("nan")}, "permissionConfidence"),
        ({"permission_set": PermissionSet.TRUSTED}, "permissionSet"),
        ({"detected_patterns": ("a\0",)}, "detectedPatterns[0]"),
        ({"created_at": LATER}, "updatedAt"),
    ],
)
def test_what_cannot_be_so_is_refused(changes: dict[str, object], field: str) -> None:
    """`trusted` without a hand and a hash of other code among it."""
    with pytest.raises(BadInput) as caught:
        capability(**changes)
    assert caught.value.code is Code.DECISION_FIELD
    assert caught.value.where is not None
    assert caught.value.where.field == field


def test_trusted_is_there_by_hand() -> None:
    """And by nothing else."""
    made = capability().with_set(PermissionSet.TRUSTED, 1.0, PermissionSource.MANUAL, LATER)
    assert determine_permission_set(made) is PermissionSet.TRUSTED
    with pytest.raises(BadInput):
        capability().with_set(PermissionSet.TRUSTED, 1.0, PermissionSource.EMERGENT, LATER)


def test_other_code_is_a_new_version_in_the_set_that_it_needs() -> None:
    """A set that was approved or given by hand does not outlive the code it was for."""
    by_hand = capability().with_set(PermissionSet.TRUSTED, 1.0, PermissionSource.MANUAL, LATER)
    found = Inferred(PermissionSet.READONLY, 0.95, ("read:./data/a",))
    made = by_hand.with_code(Language.PYTHON, "open('data/a')", found, LATER)
    assert made == replace(
        capability(),
        language=Language.PYTHON,
        code="open('data/a')",
        code_hash=digest_of_code("open('data/a')"),
        version=2,
        permission_set=PermissionSet.READONLY,
        permission_confidence=0.95,
        detected_patterns=("read:./data/a",),
        updated_at=LATER,
    )


def test_another_set_keeps_code_and_version() -> None:
    """A clock that went back moves nothing into the past."""
    later = capability(updated_at=LATER)
    made = later.with_set(PermissionSet.MCP_STANDARD, 1.0, PermissionSource.EMERGENT, NOW)
    assert made == replace(
        later, permission_set=PermissionSet.MCP_STANDARD, permission_confidence=1.0
    )
    assert made.updated_at == LATER


@pytest.mark.parametrize("name", ["a", "0", "fetch-feed", "a.b_c-d", "capability-test", "a" * 64])
def test_names_that_are_taken(name: str) -> None:
    """Lower-case letters, digits, `.`, `_` and `-`, up to 64."""
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "A", "-a", ".a", "_a", "a b", "a/b", "a\n", "ä", "a" * 65, sample_id("capability")],
)
def test_names_that_are_refused(name: str) -> None:
    """An id among them: a name must not be taken for another capability."""
    with pytest.raises(BadInput):
        check_name(name)


def test_code_is_text_of_at_most_a_mebibyte() -> None:
    """Counted in UTF-8; empty code is code."""
    for code in ("", "result = 1", "a" * MOST_CODE, "ä" * (MOST_CODE // 2)):
        assert check_code(code) is code
    for code in ("a\0", "\ud800", "a" * (MOST_CODE + 1), "ä" * (MOST_CODE // 2 + 1)):
        with pytest.raises(UsageProblem) as caught:
            check_code(code)
        assert caught.value.code is Code.CAPABILITY_CODE
        assert len(caught.value.message) < 200
