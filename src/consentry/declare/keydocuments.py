"""Key files that people hand to each other: a public key with its name, and an endorsement of one.

    {"kind": "consentry-public-key", "keyVersion": "1", "name": "author", "keyId": "<hex>",
     "public": "-----BEGIN PUBLIC KEY-----…", "madeAt": "…Z", "expiresAt": "…Z"}

An endorsement is a DSSE envelope around an in-toto statement in which an old key of a signer says
that a new one is theirs, too; the new key is in it. Nothing that these files say is taken as true
until a person accepted the fingerprint, or an accepted key of the same signer signed it.

A bare public key in PEM form is read as well; it has no name and does not expire by itself.
"""

from typing import Final

from consentry.base.canonical import Json, canonical_json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.values import dataclass
from consentry.declare.dsseenvelope import IN_TOTO, Envelope
from consentry.declare.pluginstatement import STATEMENT, read_statement
from consentry.declare.trustedkeys import is_signer_name
from consentry.record.fields import (
    check_constant,
    check_text,
    parse_document,
    placed,
    read_list,
    read_object,
)
from consentry.record.signingkey import VerifyingKey

KIND: Final = "consentry-public-key"
KEY_VERSION: Final = "1"
ENDORSEMENT: Final = "urn:consentry:key-endorsement:v1"
MOST_BYTES: Final = 64 << 10

_FIELDS = ("kind", "keyVersion", "name", "keyId", "public", "madeAt", "expiresAt")


@dataclass(frozen=True, slots=True)
class PublicKeyFile:
    """What a key file says; `name` and `made_at` are absent from a bare key."""

    key: VerifyingKey
    name: str | None = None
    made_at: Instant | None = None
    expires_at: Instant | None = None

    def to_json(self) -> dict[str, Json]:
        """The fields of the file, or of what an endorsement is about."""
        return {
            "kind": KIND,
            "keyVersion": KEY_VERSION,
            "name": self.name,
            "keyId": self.key.key_id,
            "public": self.key.pem,
            "madeAt": None if self.made_at is None else str(self.made_at),
            "expiresAt": None if self.expires_at is None else str(self.expires_at),
        }

    def to_bytes(self) -> bytes:
        """The file."""
        return canonical_json(self.to_json()) + b"\n"


def read_public_key(content: bytes) -> PublicKeyFile:
    """Reads a key file of ours, or a public key in PEM form."""
    if len(content) > MOST_BYTES:
        raise BadInput(Code.SIGNING_KEY, f"this is too long for a key file: {len(content)} bytes")
    if content.lstrip().startswith(b"-----BEGIN"):
        try:
            return PublicKeyFile(VerifyingKey.from_pem(content.decode("ascii").strip() + "\n"))
        except UnicodeDecodeError:
            raise BadInput(Code.SIGNING_KEY, "this is not a public key in PEM form") from None
    return _key_of(parse_document(content, Code.SIGNING_KEY))


def endorsement_payload(key: PublicKeyFile) -> bytes:
    """What an old key signs about a new one."""
    document: dict[str, Json] = {
        "_type": STATEMENT,
        "subject": [{"name": key.name, "digest": {"sha256": key.key.key_id}}],
        "predicateType": ENDORSEMENT,
        "predicate": key.to_json(),
    }
    return canonical_json(document)


def endorsed_key(envelope: Envelope) -> PublicKeyFile:
    """The key that an endorsement is about; whether it counts is for whoever knows the old key."""
    if envelope.payload_type != IN_TOTO:
        raise BadInput(Code.EVIDENCE, f"`{envelope.payload_type}` is not an endorsement")
    fields = read_statement(envelope.payload)
    check_constant("predicateType", fields["predicateType"], ENDORSEMENT, Code.EVIDENCE)
    with placed("predicate", Code.EVIDENCE):
        key = _key_of(fields["predicate"])
    subjects = read_list("subject", fields["subject"], Code.EVIDENCE)
    expected = [{"name": key.name, "digest": {"sha256": key.key.key_id}}]
    if subjects != expected or key.name is None:
        raise BadInput(
            Code.EVIDENCE,
            "the subject is not the key that is endorsed",
            where=Where(field="subject"),
        )
    return key


def _key_of(document: object) -> PublicKeyFile:
    fields = read_object(document, _FIELDS, Code.SIGNING_KEY)
    check_constant("kind", fields["kind"], KIND, Code.SIGNING_KEY)
    check_constant("keyVersion", fields["keyVersion"], KEY_VERSION, Code.SIGNING_KEY)
    check_text("public", fields["public"], Code.SIGNING_KEY)
    key = VerifyingKey.from_pem(fields["public"])
    if fields["keyId"] != key.key_id:
        raise BadInput(Code.SIGNING_KEY, "it is not the id of the key", where=Where(field="keyId"))
    name = fields["name"]
    if name is not None and (not isinstance(name, str) or not is_signer_name(name)):
        raise BadInput(Code.SIGNING_KEY, "nobody can be called so", where=Where(field="name"))
    return PublicKeyFile(
        key, name, _instant("madeAt", fields["madeAt"]), _instant("expiresAt", fields["expiresAt"])
    )


def _instant(name: str, value: object) -> Instant | None:
    if value is None:
        return None
    check_text(name, value, Code.SIGNING_KEY)
    with placed(name, Code.SIGNING_KEY):
        return Instant.parse(str(value))
