"""What a wish allows: what it says, no more, and some things never."""

from typing import Any

import pytest

from consentry.examine.allowance import (
    field_of,
    loading_steps,
    names_path,
    protected_steps,
    refused_steps,
)
from consentry.examine.atoms import (
    ANYTHING,
    NAMELESS,
    Atom,
    calling,
    connecting,
    encrypting,
    loading,
    reading,
    seeing,
    starting,
    writing,
)
from consentry.surface.dimensions import Dimension, LoadLevel
from consentry.surface.pattern import ABSOLUTE_PATH_MARK
from tests.examine.changes import allowing, gained


def refused(*atoms: Atom, **fields: Any) -> list[str]:
    """The targets that a wish with these fields does not allow."""
    return [step.atom.target for step in refused_steps(gained(*atoms), allowing(**fields))]


def protected(*atoms: Atom, **fields: Any) -> list[str]:
    """The targets that reach into a protected root which the wish does not name."""
    allowed = allowing(**fields) if fields else None
    return [step.atom.target for step in protected_steps(gained(*atoms), allowed)]


@pytest.mark.parametrize(
    ("make", "field", "known", "other"),
    [
        (connecting, "net_access", "example.com:443", "other.example.com:443"),
        (starting, "proc_exec", "git", "curl"),
        (seeing, "env_read", "HOME", "TOKEN"),
        (encrypting, "crypto_primitives", "sha256", "md5"),
    ],
)
class TestLists:
    """CONTRACTS §7-allowlist, for each of the four dimensions that have lists."""

    def test_none_allows_nothing(self, make: Any, field: str, known: str, other: str) -> None:
        """Neither does saying nothing."""
        for fields in ({}, {field: "NONE"}):
            assert refused(make(known), **fields) == [known]
            assert refused(make(NAMELESS), **fields) == [NAMELESS]
        assert other != known

    def test_the_word_alone(self, make: Any, field: str, known: str, other: str) -> None:
        """`ALLOWLIST` without targets allows the step to a list, whatever is on it, and never ANY."""
        assert refused(make(NAMELESS), make(known), make(other), **{field: "ALLOWLIST"}) == []
        assert refused(make(ANYTHING), **{field: "ALLOWLIST"}) == [ANYTHING]

    def test_targets(self, make: Any, field: str, known: str, other: str) -> None:
        """With targets each must be covered; a bare import has none."""
        fields = {field: "ALLOWLIST", "allowlists": {field: [known]}}
        assert refused(make(NAMELESS), make(known), make(other), **fields) == [other]
        assert refused(make(ANYTHING), **fields) == [ANYTHING]

    def test_any(self, make: Any, field: str, known: str, other: str) -> None:
        """`ANY` allows targets that are computed."""
        assert refused(make(ANYTHING), **{field: "ANY"}) == []
        assert refused(make(known), make(other), **{field: "ANY"}) == []

    def test_any_of_one_is_none_of_another(
        self, make: Any, field: str, known: str, other: str
    ) -> None:
        """GUARD §decide-implicit."""
        fields = ("net_access", "proc_exec", "env_read", "crypto_primitives")
        rest = {each: "ANY" for each in fields if each != field}
        assert refused(make(known), make(other), **rest) == sorted([known, other])


def test_roots_allow_all_below_and_nothing_beside() -> None:
    """GUARD §wish-1."""
    assert refused(reading("feeds/a/b.xml"), reading("feed"), fs_read_roots=["feeds"]) == ["feed"]
    assert refused(reading("./"), fs_read_roots=["feeds"]) == ["./"]
    assert refused(writing("feeds/a"), fs_read_roots=["feeds"]) == ["feeds/a"]
    assert refused(reading("./"), fs_read_roots=["./"]) == []


def test_an_absolute_path_needs_its_very_name() -> None:
    """CONTRACTS §7-explicit-path: no parent, no wildcard; the mark goes with the path."""
    atoms = (reading("/srv/data/x"), reading(ABSOLUTE_PATH_MARK))
    named = {"fs_read_roots": ["/srv/data/x"]}
    assert refused(*atoms, **named) == []
    for entry in ("/srv/data", "/srv/data/", "/srv/**", "/srv/data/*", "/", "./"):
        assert refused(*atoms, fs_read_roots=[entry]) == ["/srv/data/x", ABSOLUTE_PATH_MARK]
    assert refused(*atoms, fs_write_roots=["/srv/data/x"]) == ["/srv/data/x", ABSOLUTE_PATH_MARK]


def test_one_named_path_does_not_lift_the_mark_of_another() -> None:
    """CONTRACTS §7-explicit-path: every path that came with the mark is named, or it stays."""
    atoms = (reading("/srv/a"), reading("/srv/b"), reading(ABSOLUTE_PATH_MARK))
    assert refused(*atoms, fs_read_roots=["/srv/a"]) == ["/srv/b", ABSOLUTE_PATH_MARK]


def test_the_mark_alone_is_allowed_by_nothing_but_itself() -> None:
    """Some absolute path that nobody knows: naming paths does not help."""
    assert refused(reading(ABSOLUTE_PATH_MARK), fs_read_roots=["/srv/a", "./"]) == [
        ABSOLUTE_PATH_MARK
    ]


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "~/.ssh/id_ed25519", "/proc/1/environ", "/var/log/syslog", "/dev/sda"]
)
@pytest.mark.parametrize("make", [reading, writing])
def test_protected_roots_need_their_very_name(path: str, make: Any) -> None:
    """GUARD §extract-protected, §decide-protected: everything else in a wish is in vain."""
    field = "fs_read_roots" if make is reading else "fs_write_roots"
    parent = path.rpartition("/")[0]
    assert protected(make(path)) == [path]
    assert protected(make(path), **{field: [parent, f"{parent}/", f"{parent}/*", "./"]}) == [path]
    assert protected(make(path), **{field: [path]}) == []


def test_a_tree_around_a_protected_root_is_protected() -> None:
    """All of `/` has `/etc` in it."""
    assert protected(reading("/")) == ["/"]


def test_what_every_program_may_have_is_not_protected() -> None:
    """`/dev/null`, for reading and writing; paths of the workspace never are."""
    assert protected(reading("/dev/null"), writing("/dev/null")) == []
    assert protected(reading("etc/passwd"), writing("var/x")) == []


def test_loading_is_allowed_as_limited_where_no_more_was_found() -> None:
    """GUARD §decide-dynamic, CONTRACTS §7-dynamic: `ANY` never, whatever the wish says."""
    limited, anything = loading(LoadLevel.LIMITED), loading(LoadLevel.ANY)

    def blocked(atom: Atom, word: str | None) -> bool:
        allowed = None if word is None else allowing(dynamic_code_load=word)
        return bool(loading_steps(gained(atom), allowed))

    assert not blocked(limited, "LIMITED")
    assert [blocked(limited, word) for word in (None, "NONE", "ANY")] == [True, True, True]
    assert all(blocked(anything, word) for word in (None, "NONE", "LIMITED", "ANY"))
    assert refused(anything, dynamic_code_load="ANY") == ["ANY"]


def test_tool_classes_are_named_one_by_one() -> None:
    """GUARD §decide-classes: no level of another dimension brings a class with it."""
    atoms = (calling("web"), calling("browser"))
    assert refused(*atoms, net_access="ANY", tool_classes=["web"]) == ["browser"]
    assert refused(*atoms, net_access="ANY", proc_exec="ANY") == ["browser", "web"]


def test_naming_a_path_is_for_its_own_dimension() -> None:
    """To read is not to write; without a wish nothing is named."""
    allowed = allowing(fs_read_roots=["/srv/a"])
    assert names_path(allowed, reading("/srv/a"))
    assert not names_path(allowed, writing("/srv/a"))
    assert not names_path(None, reading("/srv/a"))


def test_fields_by_their_dotted_names() -> None:
    """CONTRACTS §7-verdict-keys: as `required_wish_fields_missing` has them."""
    assert field_of(Dimension.ENV_READ) == "allowed_capabilities.env_read"
