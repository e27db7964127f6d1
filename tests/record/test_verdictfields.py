"""The guard's verdict as an event (GUARD §4 to §6, CONTRACTS §7-verdict-keys)."""

from typing import Any

import pytest

from consentry.record.events import EventType
from consentry.record.payload import check_payload
from consentry.record.verdictfields import WITNESSES
from consentry.surface.dimensions import Dimension
from tests.record.payloads import DIGEST, sample_payload
from tests.record.refusals import field_named, refusal

VERDICT = EventType.GUARD_VERDICT


def refused_at(**changes: Any) -> str:
    """The field that a changed sample is refused for."""
    return field_named(refusal(VERDICT, sample_payload(VERDICT, **changes)))


@pytest.mark.parametrize("left_out", WITNESSES)
def test_a_verdict_without_one_of_its_witnesses_is_refused(left_out: str) -> None:
    """GUARD §4: all of them on every verdict, whatever its status."""
    witnesses = [f"{address}#{DIGEST}" for address in WITNESSES if address != left_out]
    problem = refusal(VERDICT, sample_payload(VERDICT, witnesses=witnesses))
    assert field_named(problem) == "payload.witnesses"
    assert f"`{left_out}`" in problem.message
    assert refused_at(witnesses=[]) == "payload.witnesses"


def test_more_witnesses_are_welcome() -> None:
    """The knowledge table has one of its own."""
    witnesses = [f"{address}#{DIGEST}" for address in (*WITNESSES, "canon://policy/knowledge_v1")]
    check_payload(VERDICT, sample_payload(VERDICT, witnesses=witnesses))


@pytest.mark.parametrize(
    "witness",
    [
        WITNESSES[0],
        f"{WITNESSES[0]}#sha256:",
        f"{WITNESSES[0]}#sha256:{'A' * 64}",
        f"{WITNESSES[0]}#md5:{'0' * 32}",
        f"no scheme#{DIGEST}",
    ],
)
def test_a_witness_carries_its_digest(witness: str) -> None:
    """An address alone says where something was, not what it was."""
    rest = [f"{address}#{DIGEST}" for address in WITNESSES[1:]]
    assert refused_at(witnesses=[witness, *rest]) == "payload.witnesses[0]"


@pytest.mark.parametrize(
    ("status", "bands"),
    [("PASS", {"GREEN", "YELLOW"}), ("BLOCKED", {"RED"}), ("UNKNOWN", {"YELLOW"})],
)
@pytest.mark.parametrize("band", ["GREEN", "YELLOW", "RED"])
def test_the_band_belongs_to_the_status(status: str, bands: set[str], band: str) -> None:
    """CONTRACTS §7: nothing blocked is anything but red, and nothing red is anything but blocked."""
    if band in bands:
        check_payload(VERDICT, sample_payload(VERDICT, status=status, risk_band=band))
    else:
        assert refused_at(status=status, risk_band=band) == "payload.risk_band"


@pytest.mark.parametrize(
    "dimensions",
    [["PROC_EXEC", "NET_ACCESS"], ["NET_ACCESS", "NET_ACCESS"]],
)
def test_the_dimensions_of_the_delta_are_sorted(dimensions: list[str]) -> None:
    """Each once: same delta, same bytes."""
    check_payload(VERDICT, sample_payload(VERDICT, delta_dimensions=sorted(set(dimensions))))
    assert refused_at(delta_dimensions=dimensions) == "payload.delta_dimensions"


@pytest.mark.parametrize("dimension", Dimension)
def test_every_dimension_can_be_named(dimension: Dimension) -> None:
    """In the delta, in its summary and in the tag of a reason."""
    verdict = sample_payload(VERDICT, delta_dimensions=[dimension.value])
    verdict["delta"][0]["dimension"] = dimension.value
    verdict["reasons"] = [{"tag": f"capability_escalation:{dimension}", "detail": ""}]
    check_payload(VERDICT, verdict)


def test_an_unknown_tag_is_refused() -> None:
    """CONTRACTS §7 lists them."""
    assert refused_at(reasons=[{"tag": "odd", "detail": "x"}]) == "payload.reasons[0].tag"


def test_a_change_may_have_no_place_in_a_file() -> None:
    """A declared tool class stands in no line; sets are listed, levels are words."""
    verdict = sample_payload(VERDICT, delta_dimensions=["TOOL_CLASSES"])
    verdict["delta"] = [
        {
            "dimension": "TOOL_CLASSES",
            "before": [],
            "after": ["web"],
            "reason": "declared",
            "file": None,
            "line": None,
        }
    ]
    check_payload(VERDICT, verdict)
