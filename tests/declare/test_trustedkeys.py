"""The key list: read as it was written, and refused where a row is not what it says."""

import json
from collections.abc import Callable

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.trustedkeys import KeyList, read_key_list
from tests.decide.signing import AUTHOR, BUILDER, KEYS, NOW, ago, known, revoked

FULL = KeyList(
    (
        known("author", AUTHOR, expires=ago(-10)),
        revoked(known("builder", BUILDER)),
    )
)


@pytest.mark.parametrize("keys", [KeyList(), KEYS, FULL])
def test_a_list_is_read_as_it_was_written(keys: KeyList) -> None:
    """Every field of every key."""
    assert read_key_list(keys.to_bytes(), "trusted-keys.json") == keys


def test_a_revoked_key_stays_as_it_was_revoked() -> None:
    """Revoking again changes neither time nor reason."""
    once = KEYS.revoked(AUTHOR.public.key_id, NOW, "lost")
    again = once.revoked(AUTHOR.public.key_id, ago(-5), "other")
    assert again == once
    key = again.by_id(AUTHOR.public.key_id)
    assert key is not None
    assert (key.revoked_at, key.revoked_why, key.is_usable(NOW)) == (NOW, "lost", False)


def _drop(name: str) -> Callable[[dict[str, object]], object]:
    return lambda row: row.pop(name)


def _set(**to: object) -> Callable[[dict[str, object]], object]:
    return lambda row: row.update(to)


WRONG = {
    "no name": _drop("name"),
    "no id": _drop("keyId"),
    "no key": _drop("public"),
    "id of another key": _set(keyId=BUILDER.public.key_id),
    "key of another id": _set(public=BUILDER.public.pem),
    "a name nobody has": _set(name="a b"),
    "another kind of key": _set(public="-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"),
    "a time that is none": _set(madeAt="yesterday"),
    "revoked without a reason": _set(revokedAt=str(NOW)),
    "a reason without being revoked": _set(revokedWhy="lost"),
    "an unknown field": _set(trusted=True),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_row_that_is_not_what_it_says_is_refused(name: str) -> None:
    """With its place; nothing of the list counts then."""
    document = json.loads(KEYS.to_bytes())
    WRONG[name](document["keys"][0])
    with pytest.raises(BadDocument) as refusal:
        read_key_list(json.dumps(document, indent=2).encode(), "trusted-keys.json")
    assert refusal.value.problems[0].where.line is not None


def test_a_key_is_in_the_list_once() -> None:
    """Also under another name: two names of one key are one key."""
    twice = KeyList((known("author", AUTHOR), known("eva", AUTHOR)))
    with pytest.raises(BadDocument, match="twice"):
        read_key_list(twice.to_bytes(), "trusted-keys.json")


@pytest.mark.parametrize(
    "text", ["{}", '{"keysVersion": "2", "keys": []}', "[]", "", '{"keys": []}']
)
def test_what_is_no_list_is_refused(text: str) -> None:
    """A version that is not known among them."""
    with pytest.raises(BadDocument):
        read_key_list(text.encode(), "trusted-keys.json")
