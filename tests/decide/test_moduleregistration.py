"""What is kept of a module, what a run is, and how a module's own words are repeated (MODULES §audit)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import digest_bytes
from consentry.base.errors import BadInput
from consentry.decide.capabilitycheck import Origin
from consentry.decide.fields import check_text
from consentry.decide.moduleregistration import (
    MOST_SAID,
    ActionRun,
    Registration,
    action_key,
    said,
)
from tests.decide.samples import DIGEST, NOW, OWNER, sample_id
from tests.decide.standings import IDENTITY

WORDS = st.text(st.characters(codec="utf-8"))


def test_a_registration_is_told_without_its_documents() -> None:
    """MODULES §grant-1: version and digest are its content."""
    kept = Registration(IDENTITY, {"moduleId": "word-count"}, None, OWNER, NOW)
    assert kept.content == ("1.2.3", DIGEST)
    assert kept.to_json() == {
        "hostId": "note-board",
        "moduleId": "word-count",
        "moduleVersion": "1.2.3",
        "packageDigest": DIGEST,
        "importedBy": OWNER,
        "importedAt": str(NOW),
    }
    assert "word-count'}" not in repr(kept)


def test_a_run_has_an_id_of_its_own_kind() -> None:
    """MODULES §audit-1: and tells the module, the action and from where it was called."""
    run = ActionRun(sample_id("action"), IDENTITY, "count", Origin.AUTOMATION, ("notes.count",))
    assert run.to_json() == {
        "actionRunId": sample_id("action"),
        **IDENTITY.to_json(),
        "actionId": "count",
        "origin": "automation",
    }
    for wrong in ("", "action-1", sample_id("run")):
        with pytest.raises(BadInput):
            ActionRun(wrong, IDENTITY, "count", Origin.INTERACTIVE)


@pytest.mark.parametrize("name", ["count", "notes.count", "zähle", "a b", "x" * MOST_SAID])
def test_a_name_is_the_key_of_its_action(name: str) -> None:
    """MODULES §audit-1: as the graph has it."""
    assert action_key(name) == name


@pytest.mark.parametrize(
    "name", ["x" * (MOST_SAID + 1), "a\0b", "a\nb", "\u202e", "\u200b", "sha256:" + "0" * 64]
)
def test_what_is_no_name_is_called_by_its_digest(name: str) -> None:
    """MODULES §audit-1: too long, not printable, or what another one's key could be."""
    assert action_key(name) == digest_bytes(name.encode())


@given(WORDS, WORDS)
def test_two_actions_never_have_one_key(one: str, other: str) -> None:
    """MODULES §audit-1: whatever they are called, also by what is the digest of the other."""
    long = one + "x" * (MOST_SAID + 1)
    names = {one, other, long, action_key(long)}
    assert len({action_key(each) for each in names}) == len(names)


@given(WORDS)
def test_what_is_repeated_of_a_modules_words_is_always_a_text(words: str) -> None:
    """MODULES §audit-1: never empty, never long, never with NUL; a question and an event take it."""
    repeated = said(words)
    check_text("displayName", repeated)
    assert 1 <= len(repeated) <= MOST_SAID
    assert "\0" not in repeated
    if 1 <= len(words) <= MOST_SAID and "\0" not in words:
        assert repeated == words
