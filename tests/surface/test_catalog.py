"""The catalog of module capabilities (MODULES §catalog, AC-1)."""

import pytest

from consentry.surface.catalog import capability_catalog

CATALOG = capability_catalog()


def test_exactly_six_ids() -> None:
    """Explicit, enumerable: these and no others."""
    assert [entry.capability_id for entry in CATALOG.entries] == [
        "ui.slot.render",
        "state.read",
        "state.write.tx",
        "module.storage.local",
        "export.user.file",
        "automation.invoke",
    ]


def test_each_has_a_scope_and_hard_limits() -> None:
    """AC-1: every capability says what it lets a module do and what it never does."""
    for entry in CATALOG.entries:
        assert entry.scope
        assert len(entry.limits) >= 2


@pytest.mark.parametrize(
    "asked", ["*", "state.*", "state", "State.Read", " state.read", "state.read ", "", "ui.slot"]
)
def test_wildcards_prefixes_and_aliases_are_unknown(asked: str) -> None:
    """No expansion of any kind."""
    assert CATALOG.find(asked) is None


def test_only_a_new_major_version_voids_grants() -> None:
    """`capabilityCatalogVersion` is SemVer."""
    assert CATALOG.version == "1.0.0"
    assert not CATALOG.voids_grants_of("1.7.3")
    assert CATALOG.voids_grants_of("0.9.0")
    assert CATALOG.voids_grants_of("2.0.0")
    assert CATALOG.voids_grants_of("10.0.0")
