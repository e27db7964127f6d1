"""Keys are made, accepted, put in another's place and revoked, each with its event (TRUST §lock-6)."""

from pathlib import Path

import pytest

from consentry.base.clock import Instant
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.evidencecase import EvidenceKind
from consentry.declare.dsseenvelope import read_envelope
from consentry.declare.keydocuments import PublicKeyFile, endorsement_payload, read_public_key
from consentry.declare.trustedkeys import TrustedKey
from consentry.examine.pluginproblems import Rejection
from consentry.record.signingkey import Algorithm
from consentry.service.signingkeys import find_key, key_list, usable_signing_key
from consentry.service.signplugin import sign_plugin
from tests.decide.signing import EVA, NOW, envelope_of
from tests.service.signing import Home, home_in
from tests.store.keepers import events

DAY = Duration(24 * 3600 * 1000)
ALICE_ONLY = "{signedBy: {anyOf: [alice]}}"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user who knows no key yet."""
    return home_in(tmp_path)


@pytest.fixture
def friend(tmp_path: Path) -> Home:
    """Another user, on a machine of their own."""
    place = tmp_path / "friend"
    place.mkdir()
    return home_in(place)


def public_file(key: TrustedKey) -> PublicKeyFile:
    """What its owner hands to others, read again."""
    file = PublicKeyFile(key.key, key.name, key.made_at, key.expires_at)
    return read_public_key(file.to_bytes())


def told(home: Home) -> list[tuple[str, str]]:
    """The events about keys: their type, and how or why."""
    with home.desk() as desk:
        found = [each for each in events(desk.journal.ledger) if each["type"].startswith("key.")]
    return [
        (each["type"], each["payload"].get("how") or each["payload"]["reason"]) for each in found
    ]


def test_a_key_that_was_made_is_known_and_on_record(home: Home) -> None:
    """Under its name, with its end."""
    with home.desk() as desk:
        key = desk.make("alice", Algorithm.ED25519, Duration(365 * DAY.milliseconds), None)
    [known] = key_list(home.around).keys
    assert known == key
    assert known.expires_at == Instant(NOW.unix_ms + 365 * DAY.milliseconds)
    assert told(home) == [("key.trusted", "made")]


def test_a_name_has_one_key_until_it_is_rotated(home: Home) -> None:
    """Making again is refused; names that nobody has are, too."""
    home.make_key("alice")
    for name in ("alice", "", "a b", "../x", "a" * 65):
        with pytest.raises(UsageProblem):
            home.make_key(name)
    assert len(key_list(home.around).keys) == 1


def test_somebody_elses_key_is_accepted_once(home: Home, friend: Home) -> None:
    """With the end that its owner gave it, or an earlier one."""
    with friend.desk() as desk:
        theirs = desk.make("alice", Algorithm.P256, Duration(90 * DAY.milliseconds), None)
    sooner = Instant(NOW.unix_ms + DAY.milliseconds)
    with home.desk() as desk:
        key = desk.trust(public_file(theirs), "alice", sooner)
        assert (key.key, key.expires_at) == (theirs.key, sooner)
        with pytest.raises(UsageProblem, match="known already"):
            desk.trust(public_file(theirs), "alice", None)
    assert told(home) == [("key.trusted", "accepted")]


def test_another_key_under_a_name_that_has_one_needs_an_endorsement(home: Home) -> None:
    """Or whoever brings a file would become one of the signers that a policy names."""
    home.make_key("alice")
    stranger = PublicKeyFile(EVA.public, "alice", NOW)
    with home.desk() as desk:
        with pytest.raises(Refused) as refusal:
            desk.trust(stranger, "alice", None)
        assert refusal.value.code == "key-refused"
        desk.trust(stranger, "eva", None)
    assert [each.name for each in key_list(home.around).keys] == ["alice", "eva"]


def test_a_rotated_key_is_taken_over_by_its_endorsement(home: Home, friend: Home) -> None:
    """The old key vouches for the new one; both are one signer, and both verify."""
    old = friend.make_key("alice")
    with friend.desk() as desk:
        new, endorsement = desk.rotate("alice", None, None, None)
    assert read_envelope(endorsement.to_bytes()) == endorsement
    with home.desk() as desk:
        with pytest.raises(Refused):
            desk.trust_endorsed(endorsement)
        desk.trust(public_file(old), "alice", None)
        taken = desk.trust_endorsed(endorsement)
    assert (taken.key, taken.name, taken.endorsed_by) == (new.key, "alice", old.key_id)
    assert told(home) == [("key.trusted", "accepted"), ("key.trusted", "endorsed")]
    assert told(friend) == [("key.trusted", "made"), ("key.trusted", "rotated")]


def test_a_plugin_signed_with_the_new_key_passes_under_the_old_policy(home: Home) -> None:
    """The policy names the signer, so a rotation needs no edit of it."""
    home.make_key("alice")
    home.plugin()
    home.ask(ALICE_ONLY)
    with home.desk() as desk:
        new, _ = desk.rotate("alice", None, None, None)
        desk.revoke(key_list(home.around).keys[0].key_id, "rotated")
    home.sign(new)
    assert home.load() is not None
    assert find_key(key_list(home.around), "alice") == new


def test_a_false_endorsement_is_refused(home: Home) -> None:
    """Of a stranger, of a name that is not theirs, tampered with, of a revoked or expired key."""
    alice = home.make_key("alice")
    bob = home.make_key("bob")
    fresh = PublicKeyFile(EVA.public, "alice", NOW)
    with home.desk() as desk:
        signing = {
            each.name: usable_signing_key(desk.state, each, NOW, None) for each in (alice, bob)
        }
        good = envelope_of(endorsement_payload(fresh), signing["alice"])
        refused = [
            envelope_of(endorsement_payload(fresh), EVA),
            envelope_of(endorsement_payload(fresh), signing["bob"]),
            envelope_of(endorsement_payload(fresh), signing["alice"], EVA),
            replace(
                envelope_of(endorsement_payload(replace(fresh, name="bob")), signing["alice"]),
                signatures=good.signatures,
            ),
            envelope_of(b"{}", signing["alice"]),
        ]
        for each in refused:
            with pytest.raises(ConsentryError):
                desk.trust_endorsed(each)
        desk.revoke("alice", "stolen")
        with pytest.raises(Refused, match="not good any more"):
            desk.trust_endorsed(good)
    assert len(key_list(home.around).keys) == 2


def test_a_revoked_key_signs_nothing_and_does_not_come_back(home: Home) -> None:
    """Neither by its file nor by making it again; revoking twice changes nothing."""
    alice = home.make_key("alice")
    home.plugin()
    with home.desk() as desk:
        secret = usable_signing_key(desk.state, alice, NOW, None)
        desk.revoke("alice", "lost")
        assert desk.revoke("alice", "again").revoked_why == "lost"
        revoked = find_key(key_list(home.around), "alice")
        with pytest.raises(Refused, match="is revoked"):
            usable_signing_key(desk.state, revoked, NOW, None)
        with pytest.raises(Refused, match="does not come back"):
            desk.trust(public_file(alice), "other", None)
        # Whoever kept the private half can still sign; nobody here believes it.
        sign_plugin(
            home.plugins / "build", secret, desk.journal, EvidenceKind.DSSE, life=None, anew=True
        )
    home.ask(ALICE_ONLY)
    assert home.refusal() is Rejection.KEY_REVOKED
    assert told(home) == [("key.trusted", "made"), ("key.revoked", "lost")]


def test_a_key_is_found_by_name_id_or_the_beginning_of_one(home: Home) -> None:
    """Not by too little of one, and not where there are two."""
    alice = home.make_key("alice")
    keys = key_list(home.around)
    assert (
        find_key(keys, "alice") == find_key(keys, alice.key_id) == find_key(keys, alice.key_id[:8])
    )
    for wanted in ("", alice.key_id[:7], "nobody", "f" * 64):
        with pytest.raises(UsageProblem):
            find_key(keys, wanted)


def test_a_second_signer_adds_to_the_envelope_that_is_there(home: Home) -> None:
    """As long as the tree is the one it is about; after a change it is begun anew."""
    alice, bob = home.make_key("alice"), home.make_key("bob")
    place = home.plugin()
    home.ask("{signedBy: {allOf: [alice, bob]}}")
    with home.desk() as desk:

        def sign(key: TrustedKey, *, life: Duration | None = None, anew: bool = False) -> int:
            secret = usable_signing_key(desk.state, key, NOW, None)
            made = sign_plugin(place, secret, desk.journal, EvidenceKind.DSSE, life=life, anew=anew)
            return len(made.signers)

        assert (sign(alice), sign(bob)) == (1, 2)
        with pytest.raises(UsageProblem, match="already"):
            sign(alice)
        assert home.load() is not None
        home.plugin(version="1.1.0")
        assert sign(bob) == 1
        assert home.refusal() is Rejection.TOO_FEW_SIGNERS
        with pytest.raises(UsageProblem, match="second signer"):
            sign(alice, life=DAY)
        assert sign(alice) == 2
        assert home.load() is not None
        assert sign(alice, anew=True) == 1


def test_what_was_signed_for_a_time_ends(home: Home) -> None:
    """By the statement's own word."""
    alice = home.make_key("alice")
    place = home.plugin()
    home.ask(ALICE_ONLY)
    with home.desk() as desk:
        secret = usable_signing_key(desk.state, alice, NOW, None)
        sign_plugin(place, secret, desk.journal, EvidenceKind.DSSE, life=DAY, anew=False)
    assert home.look() is not None
    home.clock.advance(DAY)
    assert home.refusal() is Rejection.EVIDENCE_EXPIRED
