"""A Sigstore instance of our own, in memory: an authority, a log of certificates, a transparency log.

The public instance cannot be reached from a test, and must not be. So this makes what its services
make: certificates with the extensions that Fulcio writes and an embedded timestamp of the certificate
log, entries with inclusion proof, signed checkpoint and signed entry timestamp, and the trusted root
that names their keys. The real sigstore library verifies the bundles, with no part of it replaced.
"""

import base64
import hashlib
import json
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import rfc8785
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from consentry.declare.dsseenvelope import IN_TOTO, signed_message

ISSUER = "https://issuer.example.org"
WHO = "ci@example.org"
MADE = datetime(2026, 1, 1, tzinfo=UTC)
_ISSUER_OID = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_ISSUER_V2_OID = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
_SCT_OID = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_EC = ec.ECDSA(SHA256())


def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _der(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _id(key: ec.EllipticCurvePrivateKey) -> bytes:
    return hashlib.sha256(_der(key)).digest()


def _b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@dataclass
class Instance:
    """One instance, with fresh keys."""

    authority: ec.EllipticCurvePrivateKey = field(default_factory=_key)
    certificate_log: ec.EllipticCurvePrivateKey = field(default_factory=_key)
    log: ec.EllipticCurvePrivateKey = field(default_factory=_key)

    def __post_init__(self) -> None:
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority of a test")])
        self.root = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.authority.public_key())
            .serial_number(1)
            .not_valid_before(MADE - timedelta(days=30))
            .not_valid_after(MADE + timedelta(days=3650))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(self.authority.public_key()),
                critical=False,
            )
            .sign(self.authority, SHA256())
        )

    def trusted_root(self, place: Path) -> Path:
        """Writes the file that a policy names."""
        since = {"start": (MADE - timedelta(days=30)).isoformat().replace("+00:00", "Z")}
        document = {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [self._named(self.log, since)],
            "certificateAuthorities": [
                {
                    "subject": {"organization": "test", "commonName": "authority of a test"},
                    "uri": "https://fulcio.example.org",
                    "certChain": {
                        "certificates": [{"rawBytes": _b64(self.root.public_bytes(Encoding.DER))}]
                    },
                    "validFor": since,
                }
            ],
            "ctlogs": [self._named(self.certificate_log, since)],
            "timestampAuthorities": [],
        }
        place.write_text(json.dumps(document))
        return place

    def bundle(
        self,
        payload: bytes,
        *,
        who: str = WHO,
        issuer: str = ISSUER,
        at: datetime = MADE,
        payload_type: str = IN_TOTO,
    ) -> dict[str, object]:
        """The bundle of a payload that this identity signed at that time."""
        key = _key()
        leaf = self._leaf(key, who, issuer, at)
        signature = key.sign(signed_message(payload_type, payload), _EC)
        return {
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": _b64(leaf.public_bytes(Encoding.DER))},
                "tlogEntries": [self._entry(leaf, payload, signature, at)],
            },
            "dsseEnvelope": {
                "payload": _b64(payload),
                "payloadType": payload_type,
                "signatures": [{"sig": _b64(signature), "keyid": ""}],
            },
        }

    def _named(self, key: ec.EllipticCurvePrivateKey, since: dict[str, str]) -> dict[str, object]:
        return {
            "baseUrl": "https://log.example.org",
            "hashAlgorithm": "SHA2_256",
            "publicKey": {
                "rawBytes": _b64(_der(key)),
                "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                "validFor": since,
            },
            "logId": {"keyId": _b64(_id(key))},
        }

    def _leaf(
        self, key: ec.EllipticCurvePrivateKey, who: str, issuer: str, at: datetime
    ) -> x509.Certificate:
        spelled = issuer.encode()
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(self.root.subject)
            .public_key(key.public_key())
            .serial_number(2)
            .not_valid_before(at - timedelta(minutes=1))
            .not_valid_after(at + timedelta(minutes=9))
            .add_extension(x509.SubjectAlternativeName([x509.RFC822Name(who)]), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.CODE_SIGNING]), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.authority.public_key()),
                critical=False,
            )
            .add_extension(x509.UnrecognizedExtension(_ISSUER_OID, spelled), critical=False)
            .add_extension(
                x509.UnrecognizedExtension(
                    _ISSUER_V2_OID, b"\x0c" + bytes([len(spelled)]) + spelled
                ),
                critical=False,
            )
        )
        before = builder.sign(self.authority, SHA256()).tbs_certificate_bytes
        stamp = self._certificate_timestamp(before, at)
        return builder.add_extension(
            x509.UnrecognizedExtension(_SCT_OID, stamp), critical=False
        ).sign(self.authority, SHA256())

    def _certificate_timestamp(self, tbs: bytes, at: datetime) -> bytes:
        """The list with one timestamp of the certificate log (RFC 6962, section 3.3)."""
        moment = int(at.timestamp() * 1000)
        entry = _id(self.authority) + len(tbs).to_bytes(3, "big") + tbs
        signed = struct.pack("!BBQH", 0, 0, moment, 1) + entry + b"\0\0"
        signature = self.certificate_log.sign(signed, _EC)
        stamp = b"\0" + _id(self.certificate_log) + struct.pack("!QH", moment, 0)
        stamp += b"\x04\x03" + len(signature).to_bytes(2, "big") + signature
        listed = len(stamp).to_bytes(2, "big") + stamp
        listed = len(listed).to_bytes(2, "big") + listed
        return b"\x04" + _der_length(len(listed)) + listed

    def _entry(
        self, leaf: x509.Certificate, payload: bytes, signature: bytes, at: datetime
    ) -> dict[str, object]:
        body = rfc8785.dumps(
            {
                "apiVersion": "0.0.1",
                "kind": "dsse",
                "spec": {
                    "envelopeHash": {"algorithm": "sha256", "value": "00" * 32},
                    "payloadHash": {
                        "algorithm": "sha256",
                        "value": hashlib.sha256(payload).hexdigest(),
                    },
                    "signatures": [
                        {
                            "signature": _b64(signature),
                            "verifier": _b64(leaf.public_bytes(Encoding.PEM)),
                        }
                    ],
                },
            }
        )
        # The second entry of a log of two, so that there is something to prove.
        before = hashlib.sha256(b"\0" + b"another entry").digest()
        ours = hashlib.sha256(b"\0" + body).digest()
        root = hashlib.sha256(b"\1" + before + ours).digest()
        moment = int(at.timestamp())
        promise = {
            "body": _b64(body),
            "integratedTime": moment,
            "logID": _id(self.log).hex(),
            "logIndex": 1,
        }
        return {
            "logIndex": "1",
            "logId": {"keyId": _b64(_id(self.log))},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": str(moment),
            "inclusionPromise": {
                "signedEntryTimestamp": _b64(self.log.sign(rfc8785.dumps(promise), _EC))
            },
            "inclusionProof": {
                "logIndex": "1",
                "rootHash": _b64(root),
                "treeSize": "2",
                "hashes": [_b64(before)],
                "checkpoint": {"envelope": self._checkpoint(root)},
            },
            "canonicalizedBody": _b64(body),
        }

    def _checkpoint(self, root: bytes) -> str:
        note = f"log.example.org - 1\n2\n{_b64(root)}\n"
        signature = self.log.sign(note.encode(), _EC)
        return f"{note}\n\u2014 log.example.org {_b64(_id(self.log)[:4] + signature)}\n"


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _der_length(length: int) -> bytes:
    if length < 128:
        return bytes([length])
    spelled = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(spelled)]) + spelled
