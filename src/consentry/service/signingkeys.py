"""Keys that sign plugins: made, accepted, put in another's place, revoked; each with its event.

The key list is the user's own document, private halves lie in the state directory. What makes things
looser is recorded before it counts; what makes them stricter counts first. Nothing here asks a person:
whoever calls has shown the fingerprint and got a yes.
"""

from collections.abc import Callable
from pathlib import Path

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.units import Duration
from consentry.base.values import dataclass, replace
from consentry.declare.dsseenvelope import IN_TOTO, Envelope, Signed, signed_message
from consentry.declare.keydocuments import PublicKeyFile, endorsed_key, endorsement_payload
from consentry.declare.trustedkeys import (
    FILE_NAME,
    KeyList,
    TrustedKey,
    is_signer_name,
    read_key_list,
)
from consentry.record.events import EventType
from consentry.record.signingkey import Algorithm, SignatureRefused, VerifyingKey
from consentry.service.ownfolder import changing_own, own_folder, read_own, write_own
from consentry.service.places import Workspace
from consentry.service.surroundings import Surroundings
from consentry.store.journal import About, Journal
from consentry.store.signingkeys import (
    SigningKey,
    has_signing_key,
    load_signing_key,
    save_signing_key,
)


def key_list(around: Surroundings, workspace: Workspace | None = None) -> KeyList:
    """The keys that are known; none where there is no list."""
    content = read_own(around, FILE_NAME, workspace)
    return KeyList() if content is None else read_key_list(content, str(_file(around)))


def find_key(keys: KeyList, wanted: str) -> TrustedKey:
    """The key of this id, the beginning of one, or the newest of a signer of this name."""
    named = _standing(keys, wanted) or keys.of(wanted)
    if named:
        return named[-1]
    found = [each for each in keys.keys if len(wanted) >= _LEAST and each.key_id.startswith(wanted)]
    if len(found) != 1:
        raise UsageProblem(Code.KEY_UNKNOWN, f"there is no key `{wanted}`, or more than one")
    return found[0]


_LEAST = 8


@dataclass(frozen=True, slots=True)
class KeyDesk:
    """Changes the key list of one user, and tells the ledger."""

    around: Surroundings
    state: Path
    journal: Journal

    def make(
        self, name: str, algorithm: Algorithm, life: Duration | None, passphrase: str | None
    ) -> TrustedKey:
        """A fresh key of a signer who has none, or none any more."""
        check_signer(name)
        with changing_own(self.around):
            keys = key_list(self.around)
            if _standing(keys, name):
                raise UsageProblem(Code.KEY_EXISTS, f"`{name}` has a key already")
            file = self._fresh(name, algorithm, life, passphrase)
            return self._add(keys, _entry(file, name, None, self._now()), "made")

    def rotate(
        self,
        name: str,
        life: Duration | None,
        old_words: str | None,
        words: str | None,
        hand_out: Callable[[Envelope], object] = lambda _: None,
    ) -> tuple[TrustedKey, Envelope]:
        """A fresh key beside the signer's last one, and that one's endorsement of it.

        `hand_out` is given the endorsement before the key counts: without it, nobody could take over
        this key, nor any after it.
        """
        with changing_own(self.around):
            keys = key_list(self.around)
            old = find_key(keys, name)
            signer = usable_signing_key(self.state, old, self.journal.clock.now(), old_words)
            file = self._fresh(old.name, old.key.algorithm, life, words)
            payload = endorsement_payload(file)
            signature = signer.sign(signed_message(IN_TOTO, payload))
            endorsement = Envelope(IN_TOTO, payload, (Signed(old.key_id, signature),))
            hand_out(endorsement)
            entry = _entry(file, old.name, None, self._now())
            fresh = self._add(keys, replace(entry, endorsed_by=old.key_id), "rotated")
        return fresh, endorsement

    def trust(self, file: PublicKeyFile, name: str, expires_at: Instant | None) -> TrustedKey:
        """Accepts a key that a person has compared; beside one that stands, it needs an endorsement."""
        check_signer(name)
        with changing_own(self.around):
            keys = key_list(self.around)
            _require_new(keys, file.key)
            if _standing(keys, name):
                raise Refused(
                    Code.KEY_REFUSED,
                    f"`{name}` has another key already, and nothing shows that this one is theirs",
                    help_line="take `--endorsed` with what `consentry keys rotate` wrote, "
                    "or give this key another name with `--as`",
                )
            return self._add(keys, _entry(file, name, expires_at, self._now()), "accepted")

    def trust_endorsed(self, envelope: Envelope) -> TrustedKey:
        """Accepts the key that an accepted one of the same signer endorses."""
        with changing_own(self.around):
            keys = key_list(self.around)
            file, old = check_endorsement(envelope, keys, self._now())
            _require_new(keys, file.key)
            entry = _entry(file, old.name, None, self._now())
            return self._add(keys, replace(entry, endorsed_by=old.key_id), "endorsed")

    def revoke(self, wanted: str, why: str) -> TrustedKey:
        """Marks a key, and tells; from now on nothing that it signed counts."""
        key, is_new = revoke_in_list(self.around, wanted, why, self._now())
        if is_new:
            self.tell_revoked(key)
        return key

    def tell_revoked(self, key: TrustedKey) -> None:
        """Records that a key was revoked."""
        at = key.revoked_at or self._now()
        payload: dict[str, Json] = {
            "name": key.name,
            "keyId": key.key_id,
            "reason": key.revoked_why,
            "revokedAt": str(at),
        }
        self._tell(EventType.KEY_REVOKED, key.name, payload, at)

    def _fresh(
        self, name: str, algorithm: Algorithm, life: Duration | None, passphrase: str | None
    ) -> PublicKeyFile:
        """The public half of a key whose private half lies in the state directory from now on."""
        secret, now = SigningKey.make(algorithm), self._now()
        file = PublicKeyFile(secret.public, name, now, None if life is None else now.plus(life))
        save_signing_key(self.state, secret, passphrase)
        return file

    def _add(self, keys: KeyList, entry: TrustedKey, how: str) -> TrustedKey:
        payload: dict[str, Json] = {
            "name": entry.name,
            "keyId": entry.key_id,
            "algorithm": entry.key.algorithm,
            "how": how,
            "endorsedBy": entry.endorsed_by,
            "expiresAt": None if entry.expires_at is None else str(entry.expires_at),
            "trustedAt": str(entry.trusted_at),
        }
        self._tell(EventType.KEY_TRUSTED, entry.name, payload, entry.trusted_at)
        write_own(self.around, FILE_NAME, keys.with_key(entry).to_bytes())
        return entry

    def _tell(self, event: EventType, name: str, payload: dict[str, Json], at: Instant) -> None:
        draft = self.journal.draft(event, About(f"key:{name}"), payload, at)
        self.journal.record(draft, change=lambda _: None)

    def _now(self) -> Instant:
        return self.journal.clock.now()


def revoke_in_list(
    around: Surroundings, wanted: str, why: str, now: Instant
) -> tuple[TrustedKey, bool]:
    """Marks a key in the list, whether or not a ledger can be written; and whether it was not yet."""
    with changing_own(around):
        keys = key_list(around)
        key = find_key(keys, wanted)
        if key.revoked_at is not None:
            return key, False
        write_own(around, FILE_NAME, keys.revoked(key.key_id, now, why).to_bytes())
    return replace(key, revoked_at=now, revoked_why=why), True


def check_endorsement(
    envelope: Envelope, keys: KeyList, now: Instant
) -> tuple[PublicKeyFile, TrustedKey]:
    """The endorsed key and the one that endorses it; raises unless that one is good, and the signer's."""
    file = endorsed_key(envelope)
    if len(envelope.signatures) != 1:
        raise Refused(Code.KEY_REFUSED, "an endorsement has exactly one signature")
    signed = envelope.signatures[0]
    old = keys.by_id(signed.key_id)
    if old is None:
        raise Refused(Code.KEY_REFUSED, f"the key `{signed.key_id}` that endorses is not known")
    try:
        old.key.verify(signed.signature, envelope.signed_message())
    except SignatureRefused:
        raise Refused(Code.KEY_REFUSED, "the endorsement was not signed with that key") from None
    if not old.is_usable(now):
        raise Refused(
            Code.KEY_REFUSED, f"the key of `{old.name}` that endorses is not good any more"
        )
    if file.name != old.name:
        raise Refused(Code.KEY_REFUSED, f"a key of `{old.name}` endorses one of `{file.name}`")
    return file, old


def usable_signing_key(
    state: Path, key: TrustedKey, now: Instant, passphrase: str | None
) -> SigningKey:
    """The private half, of a key that may still sign."""
    if not key.is_usable(now):
        why = "is revoked" if key.revoked_at is not None else "is expired, or not yet good"
        raise Refused(Code.KEY_REFUSED, f"the key `{key.key_id}` of `{key.name}` {why}")
    if not has_signing_key(state, key.key_id):
        raise UsageProblem(
            Code.KEY_UNKNOWN, f"the private half of `{key.name}` does not lie on this machine"
        )
    return load_signing_key(state, key.key_id, passphrase)


def check_signer(name: str) -> None:
    """Raises unless a signer may be called so."""
    if not is_signer_name(name):
        raise UsageProblem(
            Code.USAGE,
            f"`{name}` is no name for a signer",
            help_line="use letters, digits and `.`, `_`, `@`, `+`, `-`, at most 64",
        )


def _standing(keys: KeyList, name: str) -> tuple[TrustedKey, ...]:
    """The keys of a signer that are not revoked."""
    return tuple(each for each in keys.of(name) if each.revoked_at is None)


def _require_new(keys: KeyList, key: VerifyingKey) -> None:
    known = keys.by_id(key.key_id)
    if known is not None and known.revoked_at is not None:
        raise Refused(
            Code.KEY_REFUSED, f"this key is revoked ({known.revoked_why}), and does not come back"
        )
    if known is not None:
        raise UsageProblem(Code.KEY_EXISTS, f"this key is known already, as `{known.name}`")


def _entry(file: PublicKeyFile, name: str, expires_at: Instant | None, now: Instant) -> TrustedKey:
    ends = [each for each in (file.expires_at, expires_at) if each is not None]
    return TrustedKey(name, file.key, file.made_at or now, min(ends, default=None), now)


def _file(around: Surroundings) -> Path:
    return own_folder(around) / FILE_NAME
