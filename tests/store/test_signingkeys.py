"""Private keys in files: for their owner alone, sealed where there are words, refused where not as they were."""

import json
import os
import stat
from pathlib import Path

import pytest

from consentry.base.errors import ConsentryError, Refused
from consentry.record.signingkey import Algorithm
from consentry.store.signingkeys import (
    FOLDER,
    SigningKey,
    has_signing_key,
    is_sealed,
    load_signing_key,
    save_signing_key,
)

WORDS = "correct horse battery"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state directory."""
    place = tmp_path / "state"
    place.mkdir(mode=0o700)
    return place


@pytest.mark.parametrize("algorithm", Algorithm)
@pytest.mark.parametrize("words", [None, WORDS])
def test_a_key_is_loaded_as_it_was_saved(
    state: Path, algorithm: Algorithm, words: str | None
) -> None:
    """With its passphrase where it has one; the file and its folder are closed to others."""
    key = SigningKey.make(algorithm)
    assert not has_signing_key(state, key.public.key_id)
    path = save_signing_key(state, key, words)
    assert load_signing_key(state, key.public.key_id, words) == key
    assert (has_signing_key(state, key.public.key_id), is_sealed(state, key.public.key_id)) == (
        True,
        words is not None,
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert (key.secret.hex() in path.read_text()) is (words is None)


def test_a_sealed_key_opens_with_its_words_alone(state: Path) -> None:
    """Neither without nor with others; letters typed on another keyboard are the same."""
    key = SigningKey.make(Algorithm.ED25519)
    save_signing_key(state, key, "caf\u00e9 au lait")
    for words in (None, "", "caf\u00e9 au lai", WORDS):
        with pytest.raises(Refused) as refusal:
            load_signing_key(state, key.public.key_id, words)
        assert refusal.value.code == "passphrase-refused"
    assert load_signing_key(state, key.public.key_id, "cafe\u0301 au lait") == key


def test_a_short_passphrase_is_refused_and_nothing_is_written(state: Path) -> None:
    """Eight characters are the least."""
    key = SigningKey.make(Algorithm.ED25519)
    with pytest.raises(Refused):
        save_signing_key(state, key, "short")
    assert not has_signing_key(state, key.public.key_id)


def test_a_key_that_is_there_is_never_replaced(state: Path) -> None:
    """Also not by itself under other words."""
    key = SigningKey.make(Algorithm.ED25519)
    save_signing_key(state, key, None)
    with pytest.raises(ConsentryError):
        save_signing_key(state, key, WORDS)
    assert load_signing_key(state, key.public.key_id, None) == key


def _file(state: Path, words: str | None = None) -> tuple[SigningKey, Path]:
    key = SigningKey.make(Algorithm.ED25519)
    return key, save_signing_key(state, key, words)


@pytest.mark.parametrize("mode", [0o640, 0o644, 0o700, 0o400])
def test_a_file_with_another_mode_is_refused(state: Path, mode: int) -> None:
    """Refused, not repaired."""
    key, path = _file(state)
    path.chmod(mode)
    with pytest.raises(Refused, match="mode"):
        load_signing_key(state, key.public.key_id, None)


def test_a_folder_open_to_others_is_refused(state: Path) -> None:
    """They could put a key of theirs there."""
    key, path = _file(state)
    path.parent.chmod(0o755)
    with pytest.raises(Refused, match="mode"):
        load_signing_key(state, key.public.key_id, None)


def test_a_link_or_a_pipe_is_refused(state: Path) -> None:
    """Wherever it leads; nothing waits for a pipe."""
    key, path = _file(state)
    moved = state / "moved.json"
    path.rename(moved)
    path.symlink_to(moved)
    with pytest.raises(Refused):
        load_signing_key(state, key.public.key_id, None)
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(Refused):
        load_signing_key(state, key.public.key_id, None)


WRONG: dict[str, dict[str, object]] = {
    "another secret": {"secret": "11" * 32},
    "a short secret": {"secret": "11"},
    "another kind": {"kind": "ledger-key"},
    "another version": {"keyVersion": "2"},
    "an unknown algorithm": {"algorithm": "rsa"},
    "the other algorithm": {"algorithm": "ecdsa-p256"},
    "sealed, and not": {"sealed": {"n": 65536, "salt": "00" * 16, "nonce": "00" * 12}},
    "more": {"more": 1},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_not_as_it_was_is_refused_without_its_secret(state: Path, name: str) -> None:
    """One typed error, in which the secret does not stand."""
    key, path = _file(state)
    path.write_text(json.dumps(json.loads(path.read_text()) | WRONG[name]))
    with pytest.raises(Refused) as refusal:
        load_signing_key(state, key.public.key_id, None)
    assert key.secret.hex() not in str(refusal.value)
    assert refusal.value.code == "signing-key"


def test_what_is_sealed_is_bound_to_its_key(state: Path) -> None:
    """A sealed secret put under the id of another key does not open, although the words are right."""
    one, path = _file(state, WORDS)
    other, place = _file(state, WORDS)
    moved = json.loads(path.read_text()) | {"keyId": other.public.key_id}
    place.write_text(json.dumps(moved))
    with pytest.raises(Refused):
        load_signing_key(state, other.public.key_id, WORDS)
    assert load_signing_key(state, one.public.key_id, WORDS) == one


def test_a_seal_that_would_take_all_memory_is_refused(state: Path) -> None:
    """The costs in the file are bounded before they are paid."""
    key, path = _file(state, WORDS)
    document = json.loads(path.read_text())
    document["sealed"]["n"] = 1 << 40
    path.write_text(json.dumps(document))
    with pytest.raises(Refused):
        load_signing_key(state, key.public.key_id, WORDS)


def test_the_secret_is_not_in_what_is_shown_of_a_key(state: Path) -> None:
    """A key in a traceback tells nothing."""
    key, _ = _file(state)
    assert key.secret.hex() not in repr(key)
    assert FOLDER == "keys"
