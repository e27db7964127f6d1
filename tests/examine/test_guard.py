"""The seven rules of the guard, one by one and in their order, and the rungs that a verdict stands on.

What the rules look at is made by hand here; what files come to is asked in `test_sides` and `test_delta`.
"""

from typing import Any

import pytest

from consentry.base.canonical import digest_bytes
from consentry.base.values import replace
from consentry.declare.wish import Wish
from consentry.examine.atoms import (
    ANYTHING,
    Atom,
    connecting,
    loading,
    reading,
    seeing,
    starting,
)
from consentry.examine.guard import Examined, Flags, judge
from consentry.examine.recipes import UnknownNode
from consentry.examine.sides import Side
from consentry.examine.verdict import Band, Status, Verdict
from consentry.surface.dimensions import LoadLevel
from tests.examine.changes import found_side, wish_of

TABLES = ("canon://tables", digest_bytes(b"tables"))
NODE = UnknownNode("x.recipe.json", "n", "nobody")
PROTECTED = reading("/etc/passwd")
ANY_CODE = loading(LoadLevel.ANY)
EVERYTHING = wish_of(
    fs_read_roots=["./"], net_access="ANY", proc_exec="ANY", env_read="ANY", crypto_primitives="ANY"
)


def change(*atoms: Atom, doubts: tuple[str, ...] = (), **more: Any) -> Examined:
    """A change that adds these powers and doubts."""
    return Examined(found_side(), found_side(*atoms, doubts=doubts), **more)


def answered(examined: Examined, wish: Wish | None = None, **flags: bool) -> Verdict:
    """The verdict on it."""
    return judge(examined, wish, Flags(**flags), TABLES)


def test_rule_1_comes_before_all_others() -> None:
    """GUARD §decide-incomplete, §decide-order: nothing is judged of what is not wholly known."""
    examined = change(PROTECTED, ANY_CODE, connecting(), incomplete="the diff is cut off")
    found = answered(examined, offline=True)
    assert (found.status, found.band) == (Status.UNKNOWN, Band.YELLOW)
    assert found.reasons[0].tag == "insufficient_patch_data"
    assert found.reasons[0].detail == "the diff is cut off"


def test_rule_2_offline_looks_at_what_is_there_afterwards() -> None:
    """GUARD §decide-offline: allowance or not, gained or not."""
    everywhere = Examined(found_side(connecting()), found_side(connecting()))
    for wish in (None, EVERYTHING):
        assert answered(change(connecting()), wish, offline=True).status is Status.BLOCKED
        assert answered(everywhere, wish, offline=True).status is Status.BLOCKED
    assert answered(everywhere, EVERYTHING).status is Status.PASS
    removed = Examined(found_side(connecting()), found_side())
    assert answered(removed, offline=True).status is Status.PASS


@pytest.mark.parametrize("atom", [PROTECTED, ANY_CODE], ids=["protected", "loading"])
def test_rule_3_blocks_strict_or_not(atom: Atom) -> None:
    """GUARD §decide-protected, §decide-dynamic: before the rule that asks for a block."""
    for strict in (True, False):
        assert answered(change(atom), strict=strict).status is Status.BLOCKED
        assert answered(change(atom), EVERYTHING, strict=strict).status is Status.BLOCKED


def test_rule_4_without_a_block() -> None:
    """GUARD §decide-no-block: strict BLOCKED, else UNKNOWN; a wish without a block is none."""
    for wish in (None, Wish("w")):
        assert answered(change(starting()), wish).status is Status.BLOCKED
        assert answered(change(starting()), wish, strict=False).status is Status.UNKNOWN
        assert answered(change(), wish).status is Status.PASS


def test_rule_5_what_is_not_allowed() -> None:
    """GUARD §decide-proc, §decide-implicit: blocked in either mode."""
    wish = wish_of(net_access="ANY")
    for strict in (True, False):
        assert answered(change(starting("git")), wish, strict=strict).status is Status.BLOCKED


def test_rule_5_a_node_that_no_registry_knows() -> None:
    """GUARD §in-registry: nothing that it says of itself is believed."""
    found = answered(change(unknown_nodes=(NODE,)), EVERYTHING)
    assert found.status is Status.BLOCKED
    assert [each.tag for each in found.reasons] == ["capability_escalation:TOOL_CLASSES"]


def test_rule_6_something_that_cannot_be_told() -> None:
    """GUARD §extract-closed: after all that blocks, before a PASS."""
    assert answered(change(doubts=("import x",)), EVERYTHING).status is Status.UNKNOWN
    both = change(starting(), doubts=("import x",))
    assert answered(both, wish_of()).status is Status.BLOCKED
    known = Examined(found_side(doubts=("import x",)), found_side(doubts=("import x",)))
    assert answered(known).status is Status.PASS


def test_rule_7_a_pass() -> None:
    """GUARD §decide-pass, §verdict-band: GREEN without a delta, YELLOW with one that is allowed."""
    nothing = answered(change())
    assert (nothing.status, nothing.band) == (Status.PASS, Band.GREEN)
    allowed = answered(change(connecting(ANYTHING)), EVERYTHING)
    assert (allowed.status, allowed.band) == (Status.PASS, Band.YELLOW)
    assert all(rung.ok for rung in (*nothing.rungs, *allowed.rungs))


def test_what_was_removed_never_blocks() -> None:
    """CONTRACTS §7-removed: it is in the delta, and the band stays GREEN."""
    found = answered(Examined(found_side(PROTECTED, ANY_CODE, connecting()), found_side()))
    assert (found.status, found.band) == (Status.PASS, Band.GREEN)
    assert found.delta.dimensions == ()
    listed: Any = found["delta"]
    assert {each["dimension"] for each in listed} >= {"FS_READ_ROOTS", "NET_ACCESS"}


def test_every_reason_is_told_and_not_only_the_first_rule() -> None:
    """GUARD §verdict-tags: whoever reads a verdict sees all that stands in the way."""
    examined = change(
        PROTECTED, ANY_CODE, connecting(), doubts=("import x",), unknown_nodes=(NODE,)
    )
    tags = [each.tag for each in answered(examined, offline=True).reasons]
    assert tags == [
        "capability_escalation:NET_ACCESS",
        "protected_root_access",
        "dynamic_code_load",
        "capability_escalation:FS_READ_ROOTS",
        "capability_escalation:NET_ACCESS",
        "capability_escalation:DYNAMIC_CODE_LOAD",
        "capability_escalation:TOOL_CLASSES",
        "insufficient_patch_data",
    ]


def test_fields_that_the_decision_missed() -> None:
    """GUARD §wish-2: of what was gained, those that the wish does not speak of; `NONE` is said."""
    examined = change(connecting(), seeing("HOME"))
    names = ["allowed_capabilities.net_access", "allowed_capabilities.env_read"]
    assert list(answered(examined).missing_fields) == names
    assert list(answered(examined, wish_of(net_access="NONE")).missing_fields) == names[1:]
    assert answered(change(), wish_of()).missing_fields == ()


def test_witnesses_change_with_what_stands_behind_them() -> None:
    """GUARD §witness-extract, §witness-delta, §witness-form: findings, delta, tables."""
    one = answered(change(connecting()))
    other = answered(change(starting()))
    assert one.witnesses[0] != other.witnesses[0]
    assert one.witnesses[1] != other.witnesses[1]
    assert one.witnesses[2:] == other.witnesses[2:]
    tables = judge(change(connecting()), None, Flags(), (TABLES[0], digest_bytes(b"others")))
    assert tables.witnesses[:3] == one.witnesses[:3]
    assert tables.witnesses[3] != one.witnesses[3]


def test_the_witness_of_extraction_covers_what_did_not_change() -> None:
    """GUARD §witness-extract: the transcript has both sides, also where nothing lies between them."""
    same = [Examined(found_side(atom), found_side(atom)) for atom in (connecting(), starting())]
    first, second = map(answered, same)
    assert first.witnesses[1] == second.witnesses[1]
    assert first.witnesses[0] != second.witnesses[0]


def test_a_delta_that_does_not_come_out_again_fails_the_first_rung() -> None:
    """GUARD §rung-641: what was found is put together once more, the other way round."""
    verdict = answered(change(starting()))
    assert [check.ok for check in verdict.rungs[0].checks] == [True, True]
    incomplete = answered(Examined(Side(), Side(), incomplete="cut"))
    assert [check.ok for check in incomplete.rungs[0].checks] == [False, True]


def test_a_rung_without_checks_does_not_hold() -> None:
    """GUARD §rung-65537: nothing is not enough."""
    [first, *_] = answered(change()).rungs
    assert first.ok
    assert not replace(first, checks=()).ok


def test_the_same_input_gives_the_same_verdict() -> None:
    """GUARD §deterministic: whatever order the findings came in."""
    after = found_side(starting(), connecting("h:1"), reading("a"), doubts=("import x",))
    turned = replace(after, found=after.found[::-1])
    documents = [answered(Examined(found_side(), side)).to_json() for side in (after, turned)]
    for document in documents:
        del document["witnesses"]  # the transcript keeps the order that it was handed
    assert documents[0] == documents[1]
