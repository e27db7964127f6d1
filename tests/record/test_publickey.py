"""The public half of a signing key: what it verifies, how it is written, which keys are trusted."""

import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.record.publickey import PublicKey, verify_with_trusted

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = PublicKey(PRIVATE.public_key().public_bytes_raw())
OTHER = PublicKey(Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw())


def test_the_first_published_vector() -> None:
    """RFC 8032, section 7.1, test 1: the empty message."""
    key = PublicKey(
        bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    )
    signature = bytes.fromhex(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    key.verify(signature, b"")
    with pytest.raises(LedgerProblem):
        key.verify(signature, b"\0")


def test_the_id_is_the_beginning_of_a_hash() -> None:
    """`ed25519:` and 16 digits, so that a person can compare it by eye."""
    assert PUBLIC.key_id == "ed25519:56475aa75463474c"


def test_a_signature_of_another_key_or_length_is_refused() -> None:
    """One code for whatever is wrong with it."""
    signature = PRIVATE.sign(b"message")
    PUBLIC.verify(signature, b"message")
    for bad in (OTHER, PUBLIC):
        with pytest.raises(LedgerProblem) as refusal:
            bad.verify(signature if bad is OTHER else signature[:-1], b"message")
        assert refusal.value.code is Code.CHECKPOINT


def test_the_pem_is_what_others_write() -> None:
    """Byte for byte what the library writes, and read back the same."""
    written = PRIVATE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    assert PUBLIC.to_pem().encode() == written
    assert PublicKey.from_pem(PUBLIC.to_pem()) == PUBLIC
    assert PublicKey.from_pem("\n" + PUBLIC.to_pem().replace("\n", "\r\n")) == PUBLIC


@pytest.mark.skipif(which("openssl") is None, reason="needs the openssl program")
def test_another_program_verifies_it_too(tmp_path: Path) -> None:
    """The openssl program with the exported key accepts the signature, and refuses another message."""
    (tmp_path / "key.pem").write_text(PUBLIC.to_pem())
    (tmp_path / "signature").write_bytes(PRIVATE.sign(b"message"))
    words = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "key.pem"]
    words += ["-sigfile", "signature", "-in", "message"]
    for message, status in ((b"message", 0), (b"massage", 1)):
        (tmp_path / "message").write_bytes(message)
        ended = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
        assert ended.returncode == status, ended.stderr


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ed25519",
        PUBLIC.to_pem().replace("MCow", "MCox"),
        PUBLIC.to_pem().replace("=\n", "\n"),
        PUBLIC.to_pem() + PUBLIC.to_pem(),
        PUBLIC.to_pem().replace("PUBLIC", "PRIVATE"),
    ],
)
def test_a_pem_of_something_else_is_refused(text: str) -> None:
    """Another kind of key, two keys, broken base64."""
    with pytest.raises(BadInput, match="not an Ed25519 public key"):
        PublicKey.from_pem(text)


def test_a_key_of_another_length_is_none() -> None:
    """32 bytes, not 31."""
    with pytest.raises(BadInput, match="32 bytes"):
        PublicKey(PUBLIC.raw[:-1])


def test_only_a_trusted_key_counts() -> None:
    """The id picks the key among the trusted; without one, nothing is believed."""
    signature = PRIVATE.sign(b"message")
    verify_with_trusted(PUBLIC.key_id, signature, b"message", PUBLIC)
    verify_with_trusted(PUBLIC.key_id, signature, b"message", [OTHER, PUBLIC, PUBLIC])
    for trusted in ([], [OTHER]):
        with pytest.raises(LedgerProblem, match="not a trusted one"):
            verify_with_trusted(PUBLIC.key_id, signature, b"message", trusted)
    with pytest.raises(LedgerProblem, match="not signed with"):
        verify_with_trusted(PUBLIC.key_id, signature, b"massage", [PUBLIC, PUBLIC])


def test_loading_the_record_does_not_load_the_library() -> None:
    """Commands that check no signature do not pay for it."""
    program = (
        "import sys, consentry.record.checkpoint, consentry.record.proof, consentry.store.keyfile; "
        "sys.exit('cryptography' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
