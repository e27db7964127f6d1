"""Keys are made, accepted, put in another's place and revoked, each with its event (TRUST §lock-6)."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from consentry.base.clock import Instant
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.evidencecase import EvidenceKind
from consentry.declare.dsseenvelope import IN_TOTO, Envelope, Signed, read_envelope
from consentry.declare.keydocuments import PublicKeyFile, endorsement_payload, read_public_key
from consentry.declare.pluginstatement import PluginStatement, files_of
from consentry.declare.trustedkeys import KeyList, TrustedKey
from consentry.examine.pluginproblems import Rejection
from consentry.examine.plugintree import read_tree
from consentry.record.signingkey import Algorithm
from consentry.service import signplugin
from consentry.service.signingkeys import find_key, key_list, usable_signing_key
from consentry.service.signplugin import sign_plugin
from tests.decide.signing import EVA, NOW, envelope_of
from tests.service.signing import Home, home_in
from tests.store.keepers import events

DAY = Duration(24 * 3600 * 1000)
AUTHOR_ONLY = "{signedBy: {anyOf: [author]}}"


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
        key = desk.make("author", Algorithm.ED25519, Duration(365 * DAY.milliseconds), None)
    [known] = key_list(home.around).keys
    assert known == key
    assert known.expires_at == Instant(NOW.unix_ms + 365 * DAY.milliseconds)
    assert told(home) == [("key.trusted", "made")]


def test_a_name_has_one_key_until_it_is_rotated(home: Home) -> None:
    """Making again is refused; names that nobody has are, too."""
    home.make_key("author")
    for name in ("author", "", "a b", "../x", "a" * 65, "deadbeef", "ab" * 32):
        with pytest.raises(UsageProblem):
            home.make_key(name)
    assert len(key_list(home.around).keys) == 1


def test_somebody_elses_key_is_accepted_once(home: Home, friend: Home) -> None:
    """With the end that its owner gave it, or an earlier one."""
    with friend.desk() as desk:
        theirs = desk.make("author", Algorithm.P256, Duration(90 * DAY.milliseconds), None)
    sooner = Instant(NOW.unix_ms + DAY.milliseconds)
    with home.desk() as desk:
        key = desk.trust(public_file(theirs), "author", sooner)
        assert (key.key, key.expires_at) == (theirs.key, sooner)
        with pytest.raises(UsageProblem, match="known already"):
            desk.trust(public_file(theirs), "author", None)
    assert told(home) == [("key.trusted", "accepted")]


def test_another_key_under_a_name_that_has_one_needs_an_endorsement(home: Home) -> None:
    """Or whoever brings a file would become one of the signers that a policy names."""
    home.make_key("author")
    stranger = PublicKeyFile(EVA.public, "author", NOW)
    with home.desk() as desk:
        with pytest.raises(Refused) as refusal:
            desk.trust(stranger, "author", None)
        assert refusal.value.code == "key-refused"
        desk.trust(stranger, "eva", None)
    assert [each.name for each in key_list(home.around).keys] == ["author", "eva"]


def test_a_signer_whose_keys_are_all_revoked_begins_anew(home: Home) -> None:
    """A stolen key endorses nothing; the next one is compared again, and has the same name."""
    old = home.make_key("author")
    with home.desk() as desk:
        desk.revoke("author", "stolen")
        new = desk.trust(PublicKeyFile(EVA.public, "author", NOW), "author", None)
    keys = key_list(home.around)
    assert (find_key(keys, "author"), find_key(keys, old.key_id).revoked_why) == (new, "stolen")
    with pytest.raises(UsageProblem):
        home.make_key("author")


def test_a_rotated_key_is_taken_over_by_its_endorsement(home: Home, friend: Home) -> None:
    """The old key vouches for the new one; both are one signer, and both verify."""
    old = friend.make_key("author")
    with friend.desk() as desk:
        new, endorsement = desk.rotate("author", None, None, None)
    assert read_envelope(endorsement.to_bytes()) == endorsement
    with home.desk() as desk:
        with pytest.raises(Refused):
            desk.trust_endorsed(endorsement)
        desk.trust(public_file(old), "author", None)
        taken = desk.trust_endorsed(endorsement)
    assert (taken.key, taken.name, taken.endorsed_by) == (new.key, "author", old.key_id)
    assert told(home) == [("key.trusted", "accepted"), ("key.trusted", "endorsed")]
    assert told(friend) == [("key.trusted", "made"), ("key.trusted", "rotated")]


def test_a_plugin_signed_with_the_new_key_passes_under_the_old_policy(home: Home) -> None:
    """The policy names the signer, so a rotation needs no edit of it."""
    home.make_key("author")
    home.plugin()
    home.ask(AUTHOR_ONLY)
    with home.desk() as desk:
        new, _ = desk.rotate("author", None, None, None)
        desk.revoke(key_list(home.around).keys[0].key_id, "rotated")
    home.sign(new)
    assert home.load() is not None
    assert find_key(key_list(home.around), "author") == new


def test_a_false_endorsement_is_refused(home: Home) -> None:
    """Of a stranger, of a name that is not theirs, tampered with, of a revoked or expired key."""
    author = home.make_key("author")
    builder = home.make_key("builder")
    fresh = PublicKeyFile(EVA.public, "author", NOW)
    with home.desk() as desk:
        signing = {
            each.name: usable_signing_key(desk.state, each, NOW, None) for each in (author, builder)
        }
        good = envelope_of(endorsement_payload(fresh), signing["author"])
        refused = [
            envelope_of(endorsement_payload(fresh), EVA),
            envelope_of(endorsement_payload(fresh), signing["builder"]),
            envelope_of(endorsement_payload(fresh), signing["author"], EVA),
            replace(
                envelope_of(endorsement_payload(replace(fresh, name="builder")), signing["author"]),
                signatures=good.signatures,
            ),
            envelope_of(b"{}", signing["author"]),
        ]
        for each in refused:
            with pytest.raises(ConsentryError):
                desk.trust_endorsed(each)
        desk.revoke("author", "stolen")
        with pytest.raises(Refused, match="not good any more"):
            desk.trust_endorsed(good)
    assert len(key_list(home.around).keys) == 2


def test_a_revoked_key_signs_nothing_and_does_not_come_back(home: Home) -> None:
    """Neither by its file nor by making it again; revoking twice changes nothing."""
    author = home.make_key("author")
    home.plugin()
    with home.desk() as desk:
        secret = usable_signing_key(desk.state, author, NOW, None)
        desk.revoke("author", "lost")
        assert desk.revoke("author", "again").revoked_why == "lost"
        revoked = find_key(key_list(home.around), "author")
        with pytest.raises(Refused, match="is revoked"):
            usable_signing_key(desk.state, revoked, NOW, None)
        with pytest.raises(Refused, match="does not come back"):
            desk.trust(public_file(author), "other", None)
        # Whoever kept the private half can still sign; nobody here believes it.
        place, kind = home.plugins / "build", EvidenceKind.DSSE
        sign_plugin(place, secret, desk.journal, kind, keys=KeyList(), life=None, anew=True)
    home.ask(AUTHOR_ONLY)
    assert home.refusal() is Rejection.KEY_REVOKED
    assert told(home) == [("key.trusted", "made"), ("key.revoked", "lost")]


def test_a_key_is_found_by_name_id_or_the_beginning_of_one(home: Home) -> None:
    """Not by too little of one, and not where there are two."""
    author = home.make_key("author")
    keys = key_list(home.around)
    assert (
        find_key(keys, "author")
        == find_key(keys, author.key_id)
        == find_key(keys, author.key_id[:8])
    )
    for wanted in ("", author.key_id[:7], "nobody", "f" * 64):
        with pytest.raises(UsageProblem):
            find_key(keys, wanted)


def test_a_second_signer_adds_to_the_envelope_that_is_there(home: Home) -> None:
    """As long as the tree is the one it is about; after a change it is begun anew."""
    author, builder = home.make_key("author"), home.make_key("builder")
    place = home.plugin()
    home.ask("{signedBy: {allOf: [author, builder]}}")
    with home.desk() as desk:

        def sign(key: TrustedKey, *, life: Duration | None = None, anew: bool = False) -> int:
            secret = usable_signing_key(desk.state, key, NOW, None)
            keys, kind = key_list(home.around), EvidenceKind.DSSE
            made = sign_plugin(place, secret, desk.journal, kind, keys=keys, life=life, anew=anew)
            return len(made.signers)

        assert (sign(author), sign(builder)) == (1, 2)
        with pytest.raises(UsageProblem, match="already"):
            sign(author)
        assert home.load() is not None
        home.plugin(version="1.1.0")
        assert sign(builder) == 1
        assert home.refusal() is Rejection.TOO_FEW_SIGNERS
        with pytest.raises(UsageProblem, match="second signer"):
            sign(author, life=DAY)
        assert sign(author) == 2
        assert home.load() is not None
        assert sign(author, anew=True) == 1


def test_what_was_signed_for_a_time_ends(home: Home) -> None:
    """By the statement's own word."""
    author = home.make_key("author")
    place = home.plugin()
    home.ask(AUTHOR_ONLY)
    with home.desk() as desk:
        secret = usable_signing_key(desk.state, author, NOW, None)
        kind, keys = EvidenceKind.DSSE, key_list(home.around)
        sign_plugin(place, secret, desk.journal, kind, keys=keys, life=DAY, anew=False)
    assert home.look() is not None
    home.clock.advance(DAY)
    assert home.refusal() is Rejection.EVIDENCE_EXPIRED


def _laid(home: Home, place: Path, at: Instant, kind: str, signed: Signed) -> Path:
    """An envelope about the plugin as it is, with times of somebody's choice."""
    tree = read_tree(place, keep_contents=False)
    said = PluginStatement("build", "1.0.0", tree.digest, files_of(tree.entries), at, None)
    file = home.plugins / "build.dsse.json"
    file.write_bytes(Envelope(kind, said.to_payload(), (signed,)).to_bytes())
    return file


@pytest.mark.parametrize(
    ("at", "kind", "why"),
    [
        (NOW.plus(Duration(300 * DAY.milliseconds)), IN_TOTO, "has not come"),
        (NOW, "text/plain", "not written as"),
        (NOW, IN_TOTO, "is not known"),
    ],
)
def test_a_second_signer_signs_no_strangers_words(
    home: Home, monkeypatch: pytest.MonkeyPatch, at: Instant, kind: str, why: str
) -> None:
    """In threes: who writes beside a plugin does not choose what is signed; anew it is; without the control they do."""
    author, stranger = home.make_key("author"), Signed("0" * 64, bytes(64))
    place = home.plugin()
    with home.desk() as desk:
        secret = usable_signing_key(desk.state, author, NOW, None)

        def sign(*, anew: bool) -> int:
            keys, dsse = key_list(home.around), EvidenceKind.DSSE
            made = sign_plugin(place, secret, desk.journal, dsse, keys=keys, life=None, anew=anew)
            return len(made.signers)

        file = _laid(home, place, at, kind, stranger)
        before = file.read_bytes()
        with pytest.raises(Refused, match=why):
            sign(anew=False)
        assert file.read_bytes() == before
        assert sign(anew=True) == 1
        _laid(home, place, at, kind, stranger)
        monkeypatch.setattr(signplugin, "_check_cosigned", lambda *_: None)
        assert sign(anew=False) == 2
    signed = read_envelope(file.read_bytes())
    own = tuple(each for each in signed.signatures if each.key_id == author.key_id)
    file.write_bytes(Envelope(signed.payload_type, signed.payload, own).to_bytes())
    home.ask("{signedBy: {anyOf: [author]}, freshness: 1d}")
    home.clock.set_to(at)
    if kind == IN_TOTO:
        assert home.look() is not None  # fresh on a day of the stranger's choice


def test_a_second_signer_signs_beside_no_bad_or_revoked_signature(home: Home) -> None:
    """Whoever it says to be of."""
    author, builder = home.make_key("author"), home.make_key("builder")
    place = home.plugin()
    file = _laid(home, place, NOW, IN_TOTO, Signed(builder.key_id, bytes(64)))
    with home.desk() as desk:
        secret = usable_signing_key(desk.state, author, NOW, None)

        def refused() -> str:
            keys, dsse = key_list(home.around), EvidenceKind.DSSE
            with pytest.raises(Refused) as caught:
                sign_plugin(place, secret, desk.journal, dsse, keys=keys, life=None, anew=False)
            return caught.value.message

        assert "did not make" in refused()
        file.unlink()
        home.sign(builder)
        desk.revoke("builder", "lost")
        assert "is revoked" in refused()


def test_many_who_sign_at_once_are_all_in_the_envelope(home: Home) -> None:
    """Nobody's signature is lost under another's."""
    made = [home.make_key(f"signer-{number}") for number in range(6)]
    place = home.plugin()

    def sign(key: TrustedKey) -> None:
        with home.desk() as desk:
            secret = usable_signing_key(desk.state, key, NOW, None)
            keys, dsse = key_list(home.around), EvidenceKind.DSSE
            sign_plugin(place, secret, desk.journal, dsse, keys=keys, life=None, anew=False)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(sign, made))
    envelope = read_envelope((home.plugins / "build.dsse.json").read_bytes())
    assert {each.key_id for each in envelope.signatures} == {each.key_id for each in made}
