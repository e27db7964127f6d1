"""Questions for names are read strictly, and each granted name has addresses of its own."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.enforce.egress import names, questions
from consentry.enforce.egress.names import NameTable
from consentry.enforce.egress.questions import answer, read_question


def _asked(name: str, kind: int = questions.TYPE_A, flags: int = 0x0100) -> bytes:
    labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split(".") if each)
    head = b"\x12\x34" + flags.to_bytes(2, "big") + b"\0\1\0\0\0\0\0\0"
    return head + labels + b"\0" + kind.to_bytes(2, "big") + b"\0\1"


def test_a_question_is_read_whatever_its_case() -> None:
    """The answer repeats it as it was asked."""
    question = read_question(_asked("ExAmple.org"))
    assert question is not None
    assert (question.name, question.kind, question.number) == ("example.org", 1, 0x1234)
    assert b"\7ExAmple\3org" in question.asked


def test_an_answer_has_the_addresses() -> None:
    """By the layout that every resolver reads: header, question, one record for each."""
    question = read_question(_asked("example.org"))
    assert question is not None
    said = answer(question, questions.NO_ERROR, ip_address("198.18.0.1").packed)
    assert said[:4] == b"\x12\x34\x81\x80"
    assert said[6:8] == b"\0\1"
    assert said.endswith(b"\xc0\x0c\0\1\0\1\0\0\0\5\0\4\xc6\x12\0\1")
    assert answer(question, questions.NO_SUCH_NAME)[3] & 0xF == questions.NO_SUCH_NAME


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\0" * 11,
        _asked("example.org", flags=0x8180),
        _asked("example.org")[:-1],
        _asked("example.org").replace(b"\0\1\0\0\0\0", b"\0\2\0\0\0\0", 1),
        b"\x12\x34\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1",
        b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + b"\x3f" + b"a" * 63 + b"\x3f" + b"a" * 20,
        b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + (b"\x3f" + b"a" * 63) * 8 + b"\0\0\1\0\1",
        _asked("example.org")[:-2] + b"\0\3",
    ],
)
def test_what_is_no_plain_question_gets_no_answer(message: bytes) -> None:
    """Answers, two questions, compressed or endless names, other classes."""
    assert read_question(message) is None


@given(st.binary(max_size=600))
def test_no_bytes_make_the_reader_fail(noise: bytes) -> None:
    """It answers or it does not."""
    question = read_question(noise)
    if question is not None:
        assert read_question(noise[:12] + question.asked) is not None


def test_a_name_keeps_its_addresses_and_has_them_alone() -> None:
    """By them it is known which name a connection is for."""
    table = NameTable()
    first, second = table.addresses_of("a.org"), table.addresses_of("b.org")
    assert table.addresses_of("a.org") == first
    assert not set(first) & set(second)
    assert [table.name_of(each) for each in (*first, *second)] == ["a.org"] * 2 + ["b.org"] * 2
    assert table.name_of(ip_address("93.184.216.34")) is None
    assert table.name_of(ip_address("2001:db8::1")) is None


def test_a_program_cannot_have_names_without_end() -> None:
    """Each would take room."""
    table = NameTable()
    for number in range(names.MOST_NAMES):
        table.addresses_of(f"n{number}.example.org")
    with pytest.raises(BadInput):
        table.addresses_of("one-more.example.org")
