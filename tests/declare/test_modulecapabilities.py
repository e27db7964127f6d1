"""What a module asks for has one place, one shape and one normal form, and is in the catalog or unknown."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.modulecapabilities import check_capabilities, normalised
from consentry.surface.catalog import capability_catalog
from tests.declare.modulesamples import package, package_document
from tests.declare.packageanswers import Answer, answer_to

SHAPES: Final = [
    (None, ""),
    ("state.read", ""),
    ({"state.read": True}, ""),
    ([""], "[0]"),
    (["state.read", " "], "[1]"),
    (["state.read", "\t\n\u00a0\u3000"], "[1]"),
    (["state.read", None], "[1]"),
    ([["state.read"]], "[0]"),
    ([1, ""], "[0]"),
]


@pytest.mark.parametrize(("value", "below"), SHAPES)
def test_the_shape_of_capabilities(value: object, below: str) -> None:
    """CONTRACTS §1-capabilities, MODULES §source-4: texts that say something, and nothing else."""
    expected = Answer("invalid-capability-shape", f"package.capabilitiesRequested{below}")
    document = package_document() | {"capabilitiesRequested": value}
    assert answer_to(document) == expected


def test_capabilities_are_normalised() -> None:
    """MODULES §source-3: trimmed, each once, ascending by code point."""
    asked = [" state.read", "ui.slot.render", "state.read\n", "export.user.file", "Z", "a", "é"]
    found = package(package_document() | {"capabilitiesRequested": asked})
    assert found.capabilities == (
        "Z",
        "a",
        "export.user.file",
        "state.read",
        "ui.slot.render",
        "é",
    )


def test_no_list_is_an_empty_list() -> None:
    """MODULES §source-2."""
    document = package_document()
    del document["capabilitiesRequested"]
    found = package(document)
    check_capabilities(found, capability_catalog())
    assert (
        found.capabilities == package(document | {"capabilitiesRequested": []}).capabilities == ()
    )


@given(st.lists(st.text(max_size=4)))
def test_normalising_again_changes_nothing(asked: list[str]) -> None:
    """MODULES §source-3: stable, whatever the order was and however often a thing was said."""
    once = normalised(asked)
    assert normalised(once) == once == normalised([*reversed(asked), *asked])
    assert list(once) == sorted(set(once))


def test_the_list_is_the_only_input() -> None:
    """MODULES §source-1: what is said anywhere else in a package asks for nothing."""
    document = package_document()
    del document["capabilitiesRequested"]
    said = ["state.read", "automation.invoke"]
    document["extensions"] = {"x-capabilitiesRequested": said}
    document["commandBindings"][0]["context"] = {"capabilitiesRequested": said}
    document["commandBindings"][0]["payload"] = {"capabilities": said}
    document["description"] = "needs state.read"
    assert package(document).capabilities == ()


UNKNOWN: Final = [
    "*",
    "state.*",
    "state",
    "state.",
    "state.read.",
    ".state.read",
    "state.read.all",
    "STATE.READ",
    "State.Read",
    "state read",
    "state.re\u0430d",
    "state\uff0eread",
    "state.read\u200b",
    "state.read\0",
    "read",
    "state.read,state.write.tx",
    "ui.slot",
    "all",
]


@pytest.mark.parametrize("asked", UNKNOWN)
def test_what_is_not_in_the_catalog_is_unknown(asked: str) -> None:
    """MODULES §catalog-2, §catalog-3: no wildcard, prefix, alias, other case or look-alike."""
    document = package_document() | {"capabilitiesRequested": ["state.read", asked]}
    expected = Answer("capability-unknown-id", "package.capabilitiesRequested[1]")
    assert answer_to(document) == expected


def test_every_id_of_the_catalog_is_known_and_is_only_itself() -> None:
    """MODULES §catalog-3: asking for all six gives six, and asking for one gives one."""
    ids = [each.capability_id for each in capability_catalog().entries]
    for asked in (ids, *([each] for each in ids)):
        found = package(package_document() | {"capabilitiesRequested": asked})
        check_capabilities(found, capability_catalog())
        assert found.capabilities == tuple(sorted(asked))


def test_the_first_unknown_id_is_the_first_in_normal_form() -> None:
    """MODULES §catalog-2: the same id for any order, at the index where the document has it."""
    asked = ["zzz", "state.read", " bbb ", "bbb", "ccc"]
    for order in (asked, asked[::-1]):
        found = answer_to(package_document() | {"capabilitiesRequested": order})
        index = next(at for at, each in enumerate(order) if each.strip() == "bbb")
        path = f"package.capabilitiesRequested[{index}]"
        assert found == Answer("capability-unknown-id", path)


def test_meaning_comes_after_shape() -> None:
    """MODULES §source-5: a package that breaks both is refused for its shape."""
    document = package_document() | {"capabilitiesRequested": ["aaa", ""]}
    assert answer_to(document).code == "invalid-capability-shape"
    document = package_document() | {"capabilitiesRequested": ["aaa"], "extensions": []}
    assert answer_to(document).code == "invalid-extension-key"
    assert package(package_document() | {"capabilitiesRequested": ["aaa"]}).capabilities == ("aaa",)
