"""Whatever the bytes are, there is a value or `document-invalid`, and nothing else comes out."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.codes import Code
from consentry.base.errors import BadDocument
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.profilesurface import profile_surface
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.declare.toolmanifest import read_tool_manifest
from tests.declare.reading import problems_with

CONSENT = Path(__file__).parent / "consent"
CONFIG = (CONSENT / "sandbox-config.yaml").read_bytes()
MANIFEST = (CONSENT / "build-latex.yaml").read_bytes()

PIECES = [
    b"true",
    b"~",
    b"1e9",
    b"0x1",
    b"&a ",
    b"*a",
    b"!!str ",
    b"<<: ",
    b"? ",
    b"- ",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b": ",
    b"#",
    b"|\n",
    b">-\n",
    b"'",
    b'"',
    b"\\",
    b"\t",
    b"\n",
    b"\r",
    b"---\n",
    b"...\n",
    b"%YAML 9\n",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"${WORKSPACE}",
    b"${HOME}",
    b"/etc",
    b"../",
    b"**/",
    b"*",
    b"~/.ssh",
    b"\\ud800",
    b"readOnly",
    b"pattern",
    b"tool:",
    b"sandboxConfig:",
    b"99999999999999999999",
]


def check(content: bytes, name: str) -> None:
    """Reads the bytes as both kinds of document, and compiles what could be read."""
    try:
        for profile in read_sandbox_config(content, name).profiles.values():
            profile_surface(profile)
    except BadDocument as problem:
        assert_told(problem, name)
    try:
        manifest_surface(read_tool_manifest(content, name))
    except BadDocument as problem:
        assert_told(problem, name)


def assert_told(problem: BadDocument, name: str) -> None:
    """The error has the form that every error about a document has."""
    assert problem.code is Code.DOCUMENT_INVALID
    assert problem.problems
    for each in problem.problems:
        assert each.where.file == name
        assert each.message
        assert each.help_line
        assert len(str(each)) < 20_000


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """One of CONSENT's documents with some of its bytes cut, doubled, replaced or added to."""
    content = draw(st.sampled_from([CONFIG, MANIFEST]))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 40)))
        piece = draw(
            st.sampled_from(PIECES) | st.binary(max_size=8) | st.just(content[start:end] * 2)
        )
        content = content[:start] + piece + content[end:]
    return content


@given(mutations(), st.sampled_from(["d.yaml", "d.json"]))
def test_documents_with_random_damage(content: bytes, name: str) -> None:
    """Read or refused; never another error."""
    check(content, name)


@given(st.binary(max_size=400), st.sampled_from(["d.yaml", "d.json"]))
def test_random_bytes(content: bytes, name: str) -> None:
    """As above, from nothing."""
    check(content, name)


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.sampled_from(["d.yaml", "d.json"]))
def test_random_pieces_of_documents(pieces: list[bytes], name: str) -> None:
    """As above, from what YAML and our documents are made of."""
    check(b"".join(pieces), name)


VALUES = st.recursive(
    st.sampled_from(["x", "no", "/etc", "${WORKSPACE}/a", "60s", "512M", "*", "1.0.0", ""])
    | st.integers(-1, 99)
    | st.booleans()
    | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "readOnly",
                    "readWrite",
                    "noAccess",
                    "pattern",
                    "purpose",
                    "command",
                    "enabled",
                    "read",
                    "cap_kill",
                    "p",
                    "filesystem",
                    "network",
                    "resources",
                    "capabilities",
                    "fileRead",
                    "processExecution",
                    "networkAccess",
                    "profile",
                    "allowedPaths",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(["engine", "fallbackEngine", "profiles"]), VALUES), VALUES)
def test_well_formed_documents_of_the_wrong_shape(config: object, tool: object) -> None:
    """Every key may hold every kind of value."""
    check(repr_json({"sandboxConfig": config}), "d.json")
    check(repr_json({"sandboxConfig": {"profiles": {"p": tool}}}), "d.json")
    check(repr_json({"tool": {"capabilities": tool, "sandboxRequirements": tool}}), "d.json")


def repr_json(value: object) -> bytes:
    """A value as JSON."""
    return json.dumps(value).encode()


@pytest.mark.parametrize("read", [read_sandbox_config, read_tool_manifest])
def test_the_root_must_be_a_mapping(read: Callable[[bytes, str], object]) -> None:
    """Whatever else it is."""
    for content in (b"text", b"- a", b"12", b"~", b"!x {}"):
        with pytest.raises(BadDocument):
            read(content, "d.yaml")


def test_what_is_wrong_before_and_after_building_is_told_together() -> None:
    """An anchor, a doubled key and a wrong value in one answer."""
    text = "sandboxConfig:\n  engine: &e auto\n  profiles: {}\n  profiles: {}\n  x: 1\n"
    with pytest.raises(BadDocument) as caught:
        read_sandbox_config(text.encode(), "d.yaml")
    assert [each.where.line for each in caught.value.problems] == [2, 4, 5]


def test_an_empty_document_says_so() -> None:
    """Nothing, white space, remarks, a byte order mark."""
    for content in (b"", b"\n\n", b"# x", b"\xef\xbb\xbf"):
        [said] = problems_with(content)
        assert said.startswith("d.yaml:1:1: the document is empty; ")
