"""Following a chain: every single change is found and the first bad event is named."""

from hypothesis import assume, given
from hypothesis import strategies as st

from consentry.base.canonical import Digest
from consentry.record.chain import ChainFault, ChainRow, follow
from consentry.record.envelope import GENESIS, encode, hash_of
from tests.record.samples import WRITER, Drafts


def chain(length: int, writer: str = WRITER) -> list[ChainRow]:
    """A sound chain."""
    drafts, rows, prev = Drafts(), [], GENESIS
    for seq in range(1, length + 1):
        event = encode(drafts.make(n=seq), writer).linked(seq, prev)
        rows.append(ChainRow(event.writer, event.seq, event.hash, event.body))
        prev = event.hash
    return rows


ROWS = chain(12)


def fault(rows: list[ChainRow]) -> ChainFault:
    """What is wrong; that something is, is asserted."""
    found = follow(rows)
    assert isinstance(found, ChainFault)
    return found


def test_a_sound_chain_ends_at_its_head() -> None:
    """No fault, and the head is the last event's."""
    heads = follow(ROWS)
    assert isinstance(heads, dict)
    assert (heads[WRITER].seq, heads[WRITER].hash) == (12, ROWS[-1].hash)
    assert follow([]) == {}


def test_two_writers_have_two_chains() -> None:
    """Each begins anew; none continues the other."""
    other = "machine-" + "2" * 32
    heads = follow([*ROWS, *chain(3, other)])
    assert isinstance(heads, dict)
    assert {writer: head.seq for writer, head in heads.items()} == {WRITER: 12, other: 3}


@given(st.integers(0, 11), st.data())
def test_a_flipped_byte_is_found_in_the_very_event(place: int, data: st.DataObject) -> None:
    """Any byte of any body, changed to any other."""
    row = ROWS[place]
    index = data.draw(st.integers(0, len(row.body) - 1))
    byte = data.draw(st.integers(0, 255))
    assume(byte != row.body[index])
    changed = row._replace(body=row.body[:index] + bytes([byte]) + row.body[index + 1 :])
    assert fault([*ROWS[:place], changed, *ROWS[place + 1 :]]).seq == place + 1


@given(st.integers(0, 10))
def test_a_dropped_event_is_missing(place: int) -> None:
    """All but the last, whose absence only the stored head or a checkpoint shows."""
    found = fault([*ROWS[:place], *ROWS[place + 1 :]])
    assert (found.seq, found.why) == (place + 1, "is missing")


@given(st.integers(0, 11))
def test_a_repeated_event_is_named(place: int) -> None:
    """The second copy stands where it does not belong."""
    found = fault([*ROWS[: place + 1], ROWS[place], *ROWS[place + 1 :]])
    assert found.seq == place + 1
    assert "repeated or moved" in found.why


@given(st.permutations(range(12)))
def test_any_other_order_is_found(order: list[int]) -> None:
    """Only one order is the chain."""
    assume(order != list(range(12)))
    fault([ROWS[index] for index in order])


@given(st.integers(0, 11))
def test_an_event_rewritten_with_its_own_new_hash_breaks_the_next(place: int) -> None:
    """Whoever changes one event and recomputes its hash is found at the one behind it."""
    body = ROWS[place].body.replace(b'"component":"a"', b'"component":"z"')
    forged = ROWS[place]._replace(body=body, hash=hash_of(body))
    rows = [*ROWS[:place], forged, *ROWS[place + 1 :]]
    if place == 11:
        assert isinstance(follow(rows), dict), "the last event has nobody behind it"
    else:
        found = fault(rows)
        assert found.seq == place + 2
        assert "names another event before it" in found.why


def test_a_link_inside_a_payload_does_not_count() -> None:
    """An event that only quotes the right link is read as a whole, and found out."""
    quoted = {"prev": str(ROWS[0].hash), "schemaVersion": 1, "seq": 2}
    honest = encode(Drafts().make(x=quoted), WRITER).linked(2, Digest(ROWS[0].hash))
    lying = encode(Drafts().make(x={"a": 0, **quoted, "t": 1}), WRITER).linked(2, GENESIS)
    row = ChainRow(WRITER, 2, honest.hash, honest.body)
    assert isinstance(follow([ROWS[0], row]), dict)
    assert fault([ROWS[0], ChainRow(WRITER, 2, lying.hash, lying.body)]).seq == 2
