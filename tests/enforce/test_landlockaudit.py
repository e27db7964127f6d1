"""The kernel's records of refusals: read as it writes them, matched to a run, counted against its word."""

import pytest

from consentry.enforce.native.landlockaudit import (
    DOMAIN,
    REFUSAL,
    DomainLog,
    Refusal,
    fields_of,
    new_mark,
    refusal_of,
)

MARK = "cs-0123456789ab"
KNOCK = b'domain=1a blockers=fs.read_dir path="/" dev="tmpfs" ino=1'
BEGIN = b'domain=1a status=allocated mode=enforcing pid=300 uid=0 exe="/usr/bin/x" comm="%s"'
SECRET = b'domain=1a blockers=fs.read_file path="/srv/secret" dev="overlay" ino=351'
OURS = Refusal(("fs.read_file",), "/srv/secret")


def _log(*records: tuple[int, bytes]) -> DomainLog:
    log = DomainLog(MARK)
    for serial, (kind, text) in enumerate(records):
        log.take(kind, b"audit(1729738800.268:%d): %s\0" % (serial, text))
    return log


def _begun() -> tuple[tuple[int, bytes], ...]:
    return (REFUSAL, KNOCK), (DOMAIN, BEGIN % MARK.encode())


def _ended(count: int) -> tuple[int, bytes]:
    return (DOMAIN, b"domain=1a status=deallocated denials=%d" % count)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (SECRET, OURS),
        (
            b"domain=1a blockers=fs.write_file,fs.truncate path=2F7372762F6120C3BC dev=vda ino=2",
            Refusal(("fs.write_file", "fs.truncate"), "/srv/a ü"),
        ),
        (
            b"domain=1a blockers=net.connect_tcp daddr=127.0.0.1 dest=80",
            Refusal(("net.connect_tcp",), "127.0.0.1:80"),
        ),
        (
            b"domain=1a blockers=net.connect_tcp daddr=::1 dest=443",
            Refusal(("net.connect_tcp",), "[::1]:443"),
        ),
        (
            b"domain=1a blockers=net.bind_tcp saddr=0.0.0.0 src=22",
            Refusal(("net.bind_tcp",), "0.0.0.0:22"),
        ),
        (
            b"domain=1a blockers=scope.abstract_unix_socket path=00627573",
            Refusal(("scope.abstract_unix_socket",), "unix:@bus"),
        ),
        (
            b'domain=1a blockers=scope.signal opid=1 ocomm="systemd"',
            Refusal(("scope.signal",), "process 1"),
        ),
    ],
)
def test_records_are_read_as_the_kernel_writes_them(record: bytes, expected: Refusal) -> None:
    """Plain text in quotes, other text in hexadecimal, addresses and processes by number."""
    assert refusal_of(fields_of(b"audit(1729738800.268:30): " + record)) == expected


def test_a_name_that_looks_like_a_field_is_only_a_name() -> None:
    """A space or a quote in it makes the kernel spell it in hexadecimal, so nothing is smuggled in."""
    forged = b'/x" blockers=fs.execute path="/y'.hex().upper().encode()
    fields = fields_of(b"domain=1a blockers=fs.read_file path=%s dev=vda" % forged)
    assert fields["blockers"] == "fs.read_file"
    assert fields["path"] == '/x" blockers=fs.execute path="/y'


def test_all_that_was_counted_came() -> None:
    """The knock is left out, the rest is there as often as it happened."""
    log = _log(*_begun(), (REFUSAL, SECRET), (REFUSAL, SECRET), _ended(3))
    attested = log.attested(lost=False)
    assert attested.is_complete
    assert attested.refusals == {OURS: 2}


def test_a_run_in_which_nothing_was_refused_is_attested_too() -> None:
    """By its knock: no record at all would mean that nobody knows."""
    attested = _log(*_begun(), _ended(1)).attested(lost=False)
    assert attested.is_complete
    assert attested.refusals == {}
    assert _log().attested(lost=False).why == "the kernel wrote no record of the run"


def test_the_program_may_be_refused_where_the_knock_was() -> None:
    """One is ours, the others are the program's."""
    log = _log(*_begun(), (REFUSAL, KNOCK), _ended(2))
    assert log.attested(lost=False).refusals == {Refusal(("fs.read_dir",), "/"): 1}


@pytest.mark.parametrize(
    ("count", "lost", "why"),
    [
        (5, False, "2 of 5 records came"),
        (5, True, "2 of 5 records came (the reader was too slow)"),
        (1, False, "2 of 1 records came"),
    ],
)
def test_another_number_than_the_kernel_counted_is_incomplete(
    count: int,
    lost: bool,  # noqa: FBT001 - a row of the table
    why: str,
) -> None:
    """What came is kept, and the list does not pass for whole."""
    attested = _log(*_begun(), (REFUSAL, SECRET), _ended(count)).attested(lost=lost)
    assert attested.why == why
    assert attested.refusals == {OURS: 1}


def test_without_the_kernels_last_word_it_is_incomplete() -> None:
    """Nobody can say whether that was all."""
    attested = _log(*_begun(), (REFUSAL, SECRET)).attested(lost=False)
    assert attested.why == "the kernel did not say how much it refused"


def test_records_of_others_are_not_ours() -> None:
    """Other domains, before and after they are named, and records of other kinds."""
    other = SECRET.replace(b"domain=1a", b"domain=2b")
    named = (BEGIN % b"cs-another").replace(b"domain=1a", b"domain=2b")
    log = _log(
        (REFUSAL, other),
        *_begun(),
        (DOMAIN, named),
        (REFUSAL, other),
        (1300, b"domain=1a status=deallocated denials=9"),
        (DOMAIN, b"domain=2b status=deallocated denials=7"),
        (REFUSAL, SECRET),
        _ended(2),
    )
    attested = log.attested(lost=False)
    assert attested.is_complete
    assert attested.refusals == {OURS: 1}


def test_more_kinds_than_there_is_room_for_are_incomplete() -> None:
    """A program cannot fill our memory with names, and cannot hide behind many of them."""
    many = 50_001
    names = [(REFUSAL, b'domain=1a blockers=fs.read_file path="/srv/%d"' % n) for n in range(many)]
    attested = _log(*_begun(), *names, _ended(many + 1)).attested(lost=False)
    assert not attested.is_complete
    assert len(attested.refusals) < many


@pytest.mark.parametrize("text", [b"", b"=", b"domain", b"\xff=\xfe", b"domain=2b status="])
def test_odd_records_do_no_harm(text: bytes) -> None:
    """They are taken, and say nothing of our run."""
    log = _log((REFUSAL, text), (DOMAIN, text), *_begun(), _ended(1))
    assert log.attested(lost=False).is_complete


def test_marks_fit_the_name_of_a_process_and_differ() -> None:
    """Fifteen characters at most, and never twice."""
    marks = {new_mark() for _ in range(100)}
    assert len(marks) == 100
    assert all(len(mark) <= 15 for mark in marks)
