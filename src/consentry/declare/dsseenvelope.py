"""A DSSE envelope as this product keeps it: bytes that somebody signed, and who says to have done so.

    {"payload":"<base64>","payloadType":"…","signatures":[{"keyid":"<hex>","sig":"<base64>"}, …]}

Rules kept: the file is canonical JSON (RFC 8785) and a line's end, its base64 is padded and has one
spelling, signatures are sorted by key id and no key id is there twice. So one content has one
spelling, and a file of which any byte was changed is either refused here or is another content.

Reading says nothing about whether a signature is good: `decide.pluginevidence` does.
"""

import base64
import binascii
import re
from typing import Final

from consentry.base.canonical import Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.values import dataclass
from consentry.record.fields import check_text, parse_document, read_list, read_object

MOST_BYTES: Final = 16 << 20
MOST_SIGNATURES: Final = 32
MOST_SIGNATURE_BYTES: Final = 256
IN_TOTO: Final = "application/vnd.in-toto+json"

_FIELDS = ("payload", "payloadType", "signatures")
_FIELDS_OF_SIGNATURE = ("keyid", "sig")
_KEY_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Signed:
    """One signature: the id of the key that is said to have made it, and its bytes."""

    key_id: str
    signature: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """What was signed, and by whom it is said to be."""

    payload_type: str
    payload: bytes
    signatures: tuple[Signed, ...]

    def signed_message(self) -> bytes:
        """The bytes that every signature is over (DSSE's pre-authentication encoding)."""
        return signed_message(self.payload_type, self.payload)

    def with_signature(self, added: Signed) -> "Envelope":
        """The same with one more; a key signs once."""
        if any(each.key_id == added.key_id for each in self.signatures):
            raise problem(f"the key `{added.key_id}` has signed this already")
        return Envelope(self.payload_type, self.payload, _in_order((*self.signatures, added)))

    def to_bytes(self) -> bytes:
        """The one spelling of this envelope."""
        signatures: list[Json] = [
            {"keyid": each.key_id, "sig": as_base64(each.signature)}
            for each in _in_order(self.signatures)
        ]
        document: dict[str, Json] = {
            "payload": as_base64(self.payload),
            "payloadType": self.payload_type,
            "signatures": signatures,
        }
        return canonical_json(document) + b"\n"


def read_envelope(content: bytes) -> Envelope:
    """Reads what `to_bytes` writes, and nothing else."""
    if len(content) > MOST_BYTES:
        raise problem(f"the envelope has more than {MOST_BYTES >> 20} MiB")
    fields = read_object(parse_document(content, Code.EVIDENCE), _FIELDS, Code.EVIDENCE)
    check_text("payloadType", fields["payloadType"], Code.EVIDENCE)
    envelope = Envelope(
        fields["payloadType"],
        from_base64("payload", fields["payload"]),
        read_signatures(fields["signatures"]),
    )
    if envelope.to_bytes() != content:
        raise problem("the envelope is not spelled as one is written: canonical JSON, and a line")
    return envelope


def read_signatures(value: object) -> tuple[Signed, ...]:
    """The signatures of an envelope: at least one, none of a key twice."""
    listed = read_list("signatures", value, Code.EVIDENCE)
    if not 1 <= len(listed) <= MOST_SIGNATURES:
        raise problem(f"an envelope has from 1 to {MOST_SIGNATURES} signatures", "signatures")
    found = []
    for index, each in enumerate(listed):
        fields = read_object(each, _FIELDS_OF_SIGNATURE, Code.EVIDENCE)
        place = f"signatures[{index}]"
        if not isinstance(fields["keyid"], str) or _KEY_ID.fullmatch(fields["keyid"]) is None:
            raise problem("this is not the id of a key", f"{place}.keyid")
        signature = from_base64(f"{place}.sig", fields["sig"])
        if not 0 < len(signature) <= MOST_SIGNATURE_BYTES:
            raise problem("this is not as long as a signature", f"{place}.sig")
        found.append(Signed(fields["keyid"], signature))
    if len({each.key_id for each in found}) != len(found):
        raise problem("a key is there twice, and a signature counts once", "signatures")
    return tuple(found)


def signed_message(payload_type: str, payload: bytes) -> bytes:
    """The bytes that a signature of an envelope is over."""
    from securesystemslib.dsse import Envelope as LibraryEnvelope  # noqa: PLC0415 # slow to load

    message: bytes = LibraryEnvelope(payload, payload_type, {}).pae()
    return message


def as_base64(content: bytes) -> str:
    """Standard base64 with its padding."""
    return base64.b64encode(content).decode("ascii")


def from_base64(name: str, text: object) -> bytes:
    """The bytes of a text that `as_base64` would write for them."""
    wrong = problem("this is not base64 in its standard form", name)
    if not isinstance(text, str):
        raise wrong
    try:
        content = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise wrong from None
    if as_base64(content) != text:
        raise wrong
    return content


def problem(message: str, field: str | None = None) -> BadInput:
    """The error that an envelope or a bundle is refused with."""
    return BadInput(Code.EVIDENCE, message, where=None if field is None else Where(field=field))


def _in_order(signatures: tuple[Signed, ...]) -> tuple[Signed, ...]:
    return tuple(sorted(signatures, key=lambda each: each.key_id))
