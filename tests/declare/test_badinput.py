"""Whatever is handed to a reader of any document: a value, or an error with a place, a code and advice."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.codes import Code
from consentry.base.errors import BadDocument, Problem
from consentry.base.exitstatus import ExitStatus
from consentry.declare.anydocument import read_any
from consentry.declare.documentkind import DocumentKind
from tests.declare.schemacorpus import ACCEPTED

RIGHT = {
    kind: max((text for each, text in ACCEPTED if each is kind), key=len) for kind in DocumentKind
}
KINDS = pytest.mark.parametrize("kind", DocumentKind)
BOMB = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x, x]"]
    + [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)]
)  # fmt: skip

MALFORMED = {
    "nothing": b"",
    "a remark": b"# nothing else\n",
    "null": b"null\n",
    "text": b"hello\n",
    "a number": b"42\n",
    "a list": b"[]\n",
    "no mapping of ours": b"{a: {b: c}}\n",
    "not UTF-8": b"a: \xff\xfe\n",
    "binary": bytes(range(256)),
    "UTF-16": "tool: {}".encode("utf-16"),
    "NUL": b"tool:\0 {}\n",
    "an escape of NUL": b'"a\\0b": 1\n',
    "half of a pair": b'"\\ud800": 1\n',
    "turned writing": "tool: {} # \u202e\n".encode(),
    "a hidden line": "a: 1 #\u2028b: 2\n".encode(),
    "no YAML": b"tool: [1, 2\n",
    "a tab": b"tool:\n\tname: x\n",
    "two documents": b"--- {}\n--- {}\n",
    "a directive": b"%YAML 1.1\n--- {}\n",
    "a tag": b"!!python/object:os.system {}\n",
    "a tag inside": b"tool: !!map {}\n",
    "a merge": b"x: {}\n<<: {}\n",
    "aliases that grow": BOMB.encode(),
    "an alias of itself": b"a: &a [*a]\n",
    "too deep": b"[" * 100 + b"]" * 100,
    "too deep mappings": b"{a: " * 100 + b"}" * 100,
    "too many values": b"[" + b"1," * 30_000 + b"]",
    "ten megabytes": b"#" * 10_000_000,
    "a key that is a number": b"1: {}\n",
    "a key that is a list": b"[a]: {}\n",
    "a key twice": b"x: {}\nx: {}\n",
}  # fmt: skip


@KINDS
@pytest.mark.parametrize("what", MALFORMED)
def test_malformed(kind: DocumentKind, what: str) -> None:
    """One stable code and status; each problem names the file, and says what to do."""
    with pytest.raises(BadDocument) as caught:
        read_any(kind, MALFORMED[what], f"{kind}.yaml")
    problem = caught.value
    assert (problem.code, problem.exit_status) == (Code.DOCUMENT_INVALID, ExitStatus.BAD_DOCUMENT)
    for each in problem.problems:
        assert each.where.file == f"{kind}.yaml"
        assert each.message
        assert each.help_line
        if what != "ten megabytes":  # it is not read, so there is no line
            assert each.where.line is not None
            assert each.where.column is not None


@KINDS
def test_the_bomb_is_refused_where_it_is_written(kind: DocumentKind) -> None:
    """Nothing is expanded: each anchor and each alias is a line of the answer."""
    with pytest.raises(BadDocument) as caught:
        read_any(kind, BOMB.encode(), "b.yaml")
    said = [str(each) for each in caught.value.problems]
    advice = "is an anchor, and none is taken; write the value out in each place"
    assert f"b.yaml:1:4: a: `&a` {advice}" in said
    assert {each.where.line for each in caught.value.problems} >= set(range(1, 10))


@KINDS
def test_a_key_that_is_there_twice(kind: DocumentKind) -> None:
    """At the top of any document: the second is refused, and names the line of the first."""
    lines = RIGHT[kind].split("\n")
    first = next(number for number, line in enumerate(lines) if line and line[0] != "#")
    root = lines[first].partition(":")[0]
    content = f"{RIGHT[kind].rstrip()}\n{root}: {{}}\n".encode()
    with pytest.raises(BadDocument) as caught:
        read_any(kind, content, "d.yaml")
    line = content.decode().count("\n")
    assert any(
        (each.where.line, each.message) == (line, f"`{root}` is already in line {first + 1}")
        for each in caught.value.problems
    )


@KINDS
def test_json_is_refused_alike(kind: DocumentKind) -> None:
    """A key twice, NaN, a remark, and what follows the end."""
    for text in ('{"a": 1, "a": 2}', '{"a": NaN}', "{} // x", "{} {}", "{'a': 1}", "{,}"):
        with pytest.raises(BadDocument):
            read_any(kind, text.encode(), "d.json")


@KINDS
def test_a_document_of_one_kind_is_no_other(kind: DocumentKind) -> None:
    """Read as what it is not, it is refused with the key that is missing."""
    for other in DocumentKind:
        if other is not kind:
            with pytest.raises(BadDocument) as caught:
                read_any(other, RIGHT[kind].encode(), "d.yaml")
            assert any(
                "is not a key that is known here" in each.message
                or "this key is missing" in each.message
                for each in caught.value.problems
            )


def wrong_with(kind: DocumentKind, content: str | bytes) -> tuple[Problem, ...]:
    """What is wrong with it; nothing where it is right."""
    raw = content.encode() if isinstance(content, str) else content
    try:
        read_any(kind, raw, "d.yaml")
    except BadDocument as wrong:
        return wrong.problems
    return ()


def lines_changed(text: str, picks: list[tuple[int, int]]) -> str:
    """A text with some lines removed, doubled, indented, emptied or put elsewhere."""
    lines = text.split("\n")
    for number, what in picks:
        at = number % len(lines)
        line = lines[at]
        match what % 6:
            case 0:
                lines[at] = ""
            case 1:
                lines.insert(at, line)
            case 2:
                lines[at] = f"  {line}"
            case 3:
                lines[at] = line.partition(":")[0] + ":"
            case 4:
                lines[at] = line.replace(":", ": [", 1)
            case _:
                lines.append(lines.pop(at))
    return "\n".join(lines)


@given(
    st.sampled_from(list(DocumentKind)),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5)), min_size=1, max_size=6),
)
def test_a_document_that_was_edited_badly(kind: DocumentKind, picks: list[tuple[int, int]]) -> None:
    """Still right, or refused with places; nothing else ever comes out."""
    text = lines_changed(RIGHT[kind], picks)
    assert all(each.where.line is not None and each.help_line for each in wrong_with(kind, text))


@given(st.sampled_from(list(DocumentKind)), st.binary(max_size=300))
def test_bytes_that_are_no_document(kind: DocumentKind, content: bytes) -> None:
    """The same for any bytes."""
    assert all(each.help_line for each in wrong_with(kind, content))


@KINDS
def test_the_right_one_is_right(kind: DocumentKind) -> None:
    """So that the tests above change something that was right."""
    assert read_any(kind, RIGHT[kind].encode(), "d.yaml") is not None
    assert Path(kind.file).suffix == ".yaml"
