"""Surfaces as JSON: the shape of GUARD §5 with the two added fields, and its laws."""

import json
from typing import Any

import pytest
from hypothesis import given

from consentry.base.canonical import canonical_json
from consentry.base.errors import BadInput
from consentry.surface.lattice import NOTHING, Surface
from consentry.surface.wire import (
    MOST_ENTRIES,
    Missing,
    surface_digest,
    surface_from_json,
    surface_to_json,
)
from tests.surface.strategies import surfaces


def test_the_empty_surface_has_every_field() -> None:
    """Exactly the fields of a verdict's surface, `crypto_primitives` and `allowlists`."""
    assert surface_to_json(NOTHING) == {
        "fs_read_roots": [],
        "fs_write_roots": [],
        "net_access": "NONE",
        "proc_exec": "NONE",
        "env_read": "NONE",
        "dynamic_code_load": "NONE",
        "crypto_primitives": "NONE",
        "tool_classes": [],
        "allowlists": {
            "net_access": [],
            "proc_exec": [],
            "env_read": [],
            "crypto_primitives": [],
        },
    }


@given(surfaces())
def test_reading_what_was_written_is_the_identity(surface: Surface) -> None:
    """Equal powers and equal bytes, through real JSON text."""
    document = surface_to_json(surface)
    again = surface_from_json(json.loads(canonical_json(document)))
    assert again == surface
    assert surface_to_json(again) == document
    assert surface_digest(again) == surface_digest(surface)


def test_the_order_in_which_powers_are_named_does_not_matter() -> None:
    """Same powers, same bytes."""
    one = Surface.of(read=["b/", "a/"], net=["y.com", "x.com"], tools=["web", "python"])
    other = Surface.of(read=["a/", "b/"], net=["x.com", "y.com"], tools=["python", "web"])
    assert canonical_json(surface_to_json(one)) == canonical_json(surface_to_json(other))


def test_absent_fields_mean_nothing_only_where_the_reader_says_so() -> None:
    """A wish may leave dimensions out; a stored surface may not."""
    wish = {"fs_read_roots": ["data/"]}
    assert surface_from_json(wish, missing=Missing.NOTHING) == Surface.of(read=["data/"])
    with pytest.raises(BadInput, match="is missing"):
        surface_from_json(wish)


def changed(**fields: Any) -> dict[str, Any]:
    """A valid document with some fields replaced."""
    return {**surface_to_json(NOTHING), **fields}


def listed(**lists: Any) -> dict[str, Any]:
    """The same for the allowlists."""
    base = surface_to_json(NOTHING)["allowlists"]
    assert isinstance(base, dict)
    return changed(allowlists={**base, **lists})


@pytest.mark.parametrize(
    ("document", "field", "code"),
    [
        ([], "surface", "surface-field"),
        (None, "surface", "surface-field"),
        (changed(extra=1), "extra", "surface-field"),
        (changed(fs_read_roots="data"), "fs_read_roots", "surface-field"),
        (changed(fs_read_roots=[1]), "fs_read_roots[0]", "surface-field"),
        (changed(fs_read_roots=["a", "a"]), "fs_read_roots[1]", "surface-field"),
        (changed(fs_read_roots=["a", ".."]), "fs_read_roots[1]", "surface-pattern-leaves"),
        (changed(fs_write_roots=[""]), "fs_write_roots[0]", "surface-pattern"),
        (changed(fs_read_roots=["a"] * (MOST_ENTRIES + 1)), "fs_read_roots", "surface-field"),
        (changed(net_access="SOME"), "net_access", "surface-field"),
        (changed(net_access=None), "net_access", "surface-field"),
        (changed(net_access="LIMITED"), "net_access", "surface-field"),
        (changed(dynamic_code_load="ALLOWLIST"), "dynamic_code_load", "surface-field"),
        (changed(tool_classes=[" web"]), "tool_classes[0]", "surface-field"),
        (changed(allowlists=[]), "allowlists", "surface-field"),
        (listed(net_access=["a.com"]), "net_access", "surface-field"),
        (
            {**listed(net_access=["*"]), "net_access": "ALLOWLIST"},
            "allowlists.net_access[0]",
            "surface-host",
        ),
        (listed(files=[]), "allowlists.files", "surface-field"),
    ],
)
def test_a_bad_document_is_refused_with_the_very_field(
    document: object, field: str, code: str
) -> None:
    """One error, one stable code, the field that is wrong."""
    with pytest.raises(BadInput) as caught:
        surface_from_json(document)
    assert caught.value.where is not None
    assert caught.value.where.field == field
    assert caught.value.code == code
