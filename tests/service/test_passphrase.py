"""The approval passphrase: kept as a hash, counted before it is looked at, and refused where unsafe."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from consentry.base.clock import ManualClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.service.passphrase import FILE_NAME, Passphrase
from tests.decide.samples import NOW

WORDS = "correct horse battery"


@pytest.fixture
def clock() -> ManualClock:
    """One that stands still."""
    return ManualClock(NOW)


@pytest.fixture
def kept(tmp_path: Path, clock: ManualClock) -> Passphrase:
    """A passphrase that is set."""
    found = Passphrase(tmp_path, clock)
    found.set(WORDS, None)
    return found


def refusal(kept: Passphrase, words: str) -> ConsentryError:
    """Why these words are not taken."""
    with pytest.raises(ConsentryError) as caught:
        kept.check(words)
    return caught.value


def record(kept: Passphrase) -> dict[str, object]:
    """What lies on the disk."""
    found: dict[str, object] = json.loads(kept.path.read_text())
    return found


def test_it_is_kept_closed_and_never_as_it_was_typed(kept: Passphrase) -> None:
    """Mode 0600, and no part of the words."""
    assert kept.path.stat().st_mode & 0o777 == 0o600
    assert not any(word in kept.path.read_text() for word in WORDS.split())
    kept.check(WORDS)
    assert refusal(kept, WORDS + " ").code is Code.PASSPHRASE_REFUSED
    assert refusal(kept, "").code is Code.PASSPHRASE_REFUSED


def test_the_same_letters_are_the_same_words(tmp_path: Path, clock: ManualClock) -> None:
    """However a keyboard composes them."""
    kept = Passphrase(tmp_path, clock)
    kept.set("prise de caf\u00e9", None)
    kept.check("prise de cafe\u0301")


def test_wrong_words_are_counted_and_make_the_next_try_wait(
    kept: Passphrase, clock: ManualClock
) -> None:
    """Two are free; then each doubles the time, also for the right words, up to five minutes."""
    for _ in range(3):
        assert "wrong" in refusal(kept, "guess").message
    assert record(kept)["wrong"] == 3
    waiting = refusal(kept, WORDS)
    assert "read in 2s" in waiting.message
    assert record(kept)["wrong"] == 3
    clock.advance(Duration(2_000))
    assert refusal(kept, "guess").message == "the passphrase is wrong"
    assert "read in 4s" in refusal(kept, WORDS).message
    for _ in range(30):
        clock.advance(Duration(300_000))
        refusal(kept, "guess")
    assert "read in 300s" in refusal(kept, WORDS).message
    clock.advance(Duration(300_000))
    kept.check(WORDS)
    assert record(kept)["wrong"] == 0


def test_many_tries_at_once_are_all_counted(kept: Passphrase) -> None:
    """The attack: guess in parallel, so that no count is read before another is written."""
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: refusal(kept, f"guess {n}"), range(12)))
    assert record(kept)["wrong"] == 3  # and then nothing more was looked at


def test_another_one_needs_the_one_before(kept: Passphrase) -> None:
    """Also to remove it; too short is refused."""
    for before in (None, "guess"):
        with pytest.raises(ConsentryError) as caught:
            kept.set("another one", before)
        assert caught.value.code is Code.PASSPHRASE_REFUSED
    kept.check(WORDS)
    kept.set("another one", WORDS)
    kept.check("another one")
    with pytest.raises(ConsentryError):
        kept.set("short", "another one")
    with pytest.raises(ConsentryError):
        kept.remove(WORDS)
    kept.remove("another one")
    assert not kept.is_set
    assert refusal(kept, "another one").code is Code.PASSPHRASE_UNUSABLE


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.chmod(0o644),
        lambda path: path.write_text("{}"),
        lambda path: path.write_text(""),
        lambda path: path.write_bytes(b"\xff" * 9_000),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: (path.rename(path.with_suffix(".x")), path.symlink_to(path.with_suffix(".x"))),
    ],
)
def test_a_record_that_is_not_ours_lets_nothing_through(kept: Passphrase, spoil: object) -> None:
    """Open to others, torn, a folder, a pipe, a link: refused, and not repaired."""
    spoil(kept.path)  # type: ignore[operator]
    assert kept.is_set
    assert refusal(kept, WORDS).code is Code.PASSPHRASE_UNUSABLE
    assert kept.path.name == FILE_NAME
