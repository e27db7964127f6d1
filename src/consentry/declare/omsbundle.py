"""OMS bundles (OpenSSF Model Signing 1.0) with a key: read as others write them, and written for them.

A Sigstore bundle v0.3 around a DSSE envelope with exactly one signature, whose payload is an in-toto
statement of the type `https://model_signing/signature/v1.0`: a list of files with their digests, and
how they were gathered. The key is named by a hint, the SHA-256 of its PEM form.

What the format does not cover: links, executable bits, empty folders, a version, a time. And a bundle
says itself what it left out (`ignore_paths`). So nothing that it says about how it was made is relied
on: `decide.plugincoverage` holds its list of files against the tree. Shards, digests other than
SHA-256 and the form that was written before 1.0 are refused. Bundles with certificates are for
`service.sigstorebundles`.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from consentry.base.canonical import Digest, Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.declare.dsseenvelope import (
    IN_TOTO,
    MOST_BYTES,
    MOST_SIGNATURE_BYTES,
    as_base64,
    from_base64,
    problem,
)
from consentry.declare.pluginstatement import STATEMENT
from consentry.record.fields import (
    check_constant,
    check_hex,
    check_text,
    parse_document,
    placed,
    read_list,
    read_object,
)

MEDIA_TYPE: Final = "application/vnd.dev.sigstore.bundle.v0.3+json"
PREDICATE: Final = "https://model_signing/signature/v1.0"

_METHOD = "files"
_HASH = "sha256"
_PREFIX = "sha256:"
_FIELDS_OF_PREDICATE = ("serialization", "resources")
_FIELDS_OF_RESOURCE = ("name", "algorithm", "digest")


@dataclass(frozen=True, slots=True)
class OmsBundle:
    """What was signed, the one signature, and the hint that names its key."""

    payload: bytes
    signature: bytes
    hint: str

    def to_bytes(self) -> bytes:
        """As the reference tool reads it."""
        document: dict[str, Json] = {
            "mediaType": MEDIA_TYPE,
            "verificationMaterial": {"publicKey": {"hint": self.hint}, "tlogEntries": []},
            "dsseEnvelope": {
                "payload": as_base64(self.payload),
                "payloadType": IN_TOTO,
                "signatures": [{"sig": as_base64(self.signature), "keyid": ""}],
            },
        }
        return canonical_json(document) + b"\n"


@dataclass(frozen=True, slots=True)
class OmsStatement:
    """The model's name and its files with their digests, as they are listed."""

    name: str
    files: tuple[tuple[str, Digest], ...]

    def to_payload(self) -> bytes:
        """The bytes that are signed."""
        document: dict[str, Json] = {
            "_type": STATEMENT,
            "subject": [{"name": self.name, "digest": {"sha256": _root(self.files)}}],
            "predicateType": PREDICATE,
            "predicate": {
                "serialization": {
                    "method": _METHOD,
                    "hash_type": _HASH,
                    "allow_symlinks": False,
                    "ignore_paths": [],
                },
                "resources": [
                    {"name": path, "algorithm": _HASH, "digest": digest.removeprefix(_PREFIX)}
                    for path, digest in self.files
                ],
            },
        }
        return canonical_json(document)


def read_oms_bundle(content: bytes) -> OmsBundle:
    """Reads a bundle that was signed with a key."""
    if len(content) > MOST_BYTES:
        raise problem(f"the bundle has more than {MOST_BYTES >> 20} MiB")
    names = ("mediaType", "verificationMaterial", "dsseEnvelope")
    fields = read_object(parse_document(content, Code.EVIDENCE), names, Code.EVIDENCE)
    check_constant("mediaType", fields["mediaType"], MEDIA_TYPE, Code.EVIDENCE)
    with placed("dsseEnvelope", Code.EVIDENCE):
        names = ("payload", "payloadType", "signatures")
        inner = read_object(fields["dsseEnvelope"], names, Code.EVIDENCE)
        check_constant("payloadType", inner["payloadType"], IN_TOTO, Code.EVIDENCE)
        payload = from_base64("payload", inner["payload"])
        signature = _signature(inner["signatures"])
    return OmsBundle(payload, signature, _hint(fields["verificationMaterial"]))


def oms_statement(fields: dict[str, Any]) -> OmsStatement:
    """The statement that these fields of an in-toto statement make, if it is one of OMS 1.0."""
    check_constant("predicateType", fields["predicateType"], PREDICATE, Code.EVIDENCE)
    subjects = read_list("subject", fields["subject"], Code.EVIDENCE)
    if len(subjects) != 1:
        raise problem("there is one subject, the whole", "subject")
    with placed("subject[0]", Code.EVIDENCE):
        subject = read_object(subjects[0], ("name", "digest"), Code.EVIDENCE)
        check_text("name", subject["name"], Code.EVIDENCE)
        root = read_object(subject["digest"], ("sha256",), Code.EVIDENCE)["sha256"]
        check_hex("digest.sha256", root, Code.EVIDENCE)
    with placed("predicate", Code.EVIDENCE):
        said = read_object(fields["predicate"], _FIELDS_OF_PREDICATE, Code.EVIDENCE)
        _check_serialization(said["serialization"])
        files = _resources(said["resources"])
    if _root(files) != root:
        raise problem("the digest over all files is not that of the files listed", "subject[0]")
    return OmsStatement(subject["name"], files)


def _signature(value: object) -> bytes:
    listed = read_list("signatures", value, Code.EVIDENCE)
    if len(listed) != 1:
        raise problem("a bundle has exactly one signature", "signatures")
    only = listed[0]
    # The reference tool writes an empty id, or none.
    names = ("sig", "keyid") if isinstance(only, dict) and "keyid" in only else ("sig",)
    fields = read_object(only, names, Code.EVIDENCE)
    if fields.get("keyid", "") not in ("", None):
        raise problem("the key is named by its hint alone", "signatures[0].keyid")
    signature = from_base64("signatures[0].sig", fields["sig"])
    if not 0 < len(signature) <= MOST_SIGNATURE_BYTES:
        raise problem("this is not as long as a signature", "signatures[0].sig")
    return signature


def _hint(value: object) -> str:
    with placed("verificationMaterial", Code.EVIDENCE):
        if not isinstance(value, dict) or "publicKey" not in value:
            raise problem("it names no key; bundles with certificates are Sigstore's")
        names = ("publicKey", *(name for name in ("tlogEntries",) if name in value))
        fields = read_object(value, names, Code.EVIDENCE)
        if fields.get("tlogEntries", []) != []:
            raise problem("a bundle with a key has no entries of a log", "tlogEntries")
        hint = read_object(fields["publicKey"], ("hint",), Code.EVIDENCE)["hint"]
        check_hex("publicKey.hint", hint, Code.EVIDENCE)
    return str(hint)


def _check_serialization(value: object) -> None:
    if not isinstance(value, dict):
        raise problem("this is not a JSON object", "serialization")
    method, hash_type = value.get("method"), value.get("hash_type")
    if method != _METHOD:
        raise problem(f"only whole files are read, not `{method}`", "serialization.method")
    if hash_type != _HASH:
        raise problem(f"only sha256 is read, not `{hash_type}`", "serialization.hash_type")


def _resources(value: object) -> tuple[tuple[str, Digest], ...]:
    found: dict[str, Digest] = {}
    for index, each in enumerate(read_list("resources", value, Code.EVIDENCE)):
        with placed(f"resources[{index}]", Code.EVIDENCE):
            fields = read_object(each, _FIELDS_OF_RESOURCE, Code.EVIDENCE)
            check_text("name", fields["name"], Code.EVIDENCE)
            check_constant("algorithm", fields["algorithm"], _HASH, Code.EVIDENCE)
            check_hex("digest", fields["digest"], Code.EVIDENCE)
            if fields["name"] in found:
                raise BadInput(Code.EVIDENCE, f"`{fields['name']}` is there twice")
        found[fields["name"]] = Digest(_PREFIX + fields["digest"])
    return tuple(found.items())


def _root(files: Iterable[tuple[str, Digest]]) -> str:
    """SHA-256 over the digests of all files, in the order they are listed."""
    whole = hashlib.sha256()
    for _, digest in files:
        whole.update(bytes.fromhex(digest.removeprefix(_PREFIX)))
    return whole.hexdigest()
