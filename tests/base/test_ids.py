"""Ids: a prefix and a UUID of version 7 (CONSENT §audit: `audit-<uuid7>`)."""

import uuid

import pytest

from consentry.base.clock import Instant, ManualClock, SystemClock
from consentry.base.errors import BadInput
from consentry.base.ids import CountingIds, Uuid7Ids, check_id
from consentry.base.units import Duration


def test_an_id_is_a_prefix_and_a_real_uuid7() -> None:
    """The standard library agrees on version and variant, and the time is in front."""
    made = Uuid7Ids(ManualClock(Instant(1_734_085_800_123))).new("audit")
    prefix, _, text = made.partition("-")
    parsed = uuid.UUID(text)
    assert prefix == "audit"
    assert parsed.version == 7
    assert parsed.variant == uuid.RFC_4122
    assert parsed.int >> 80 == 1_734_085_800_123
    assert check_id(made, "audit") == made


def test_ids_of_one_source_ascend_and_never_repeat() -> None:
    """Also within one millisecond, and when the clock steps back."""
    clock = ManualClock(Instant(1000))
    ids = Uuid7Ids(clock)
    made = [ids.new("run") for _ in range(5000)]
    clock.set_to(Instant(1))
    made += [ids.new("run") for _ in range(5000)]
    clock.advance(Duration(5000))
    made.append(ids.new("run"))
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_a_full_counter_moves_on_to_the_next_millisecond() -> None:
    """Ids go on ascending even if the counter runs out."""
    ids = Uuid7Ids(ManualClock(Instant(1000)), random_bytes=lambda n: b"\xff" * n)
    first = ids.new("run")
    ids._counter = (1 << 42) - 1
    second, third = ids.new("run"), ids.new("run")
    assert first < second < third
    assert uuid.UUID(second.removeprefix("run-")).int >> 80 == 1001


def test_two_sources_do_not_collide() -> None:
    """Two processes at the same instant draw different numbers."""
    clock = ManualClock(Instant(1000))
    one, other = Uuid7Ids(clock), Uuid7Ids(clock)
    assert {one.new("run") for _ in range(1000)}.isdisjoint({other.new("run") for _ in range(1000)})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "audit",
        "audit-",
        "audit-123",
        "run-0193bf5a-7b4c-7000-8000-000000000001",
        "audit-0193bf5a-7b4c-4000-8000-000000000001",
        "audit-0193BF5A-7b4c-7000-8000-000000000001",
        "audit-0193bf5a-7b4c-7000-8000-000000000001\n",
        "audit-0193bf5a-7b4c-7000-c000-000000000001",
    ],
)
def test_a_wrong_id_is_refused(text: str) -> None:
    """Another kind's prefix, another version, another spelling."""
    with pytest.raises(BadInput) as caught:
        check_id(text, "audit")
    assert caught.value.code == "identifier"


@pytest.mark.parametrize("prefix", ["", "A", "a", "a-b", "1a", "a" * 17])
def test_a_wrong_prefix_is_refused(prefix: str) -> None:
    """A prefix is a short lower-case word."""
    with pytest.raises(BadInput):
        Uuid7Ids(SystemClock()).new(prefix)


def test_counting_ids_are_valid_and_predictable() -> None:
    """Tests and replays get the same ids every time."""
    ids = CountingIds()
    assert ids.new("run") == "run-00000000-0000-7000-8000-000000000001"
    assert ids.new("run").endswith("2")
