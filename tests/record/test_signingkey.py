"""Public keys that sign plugins: two kinds, one id for one key, and nothing else is taken."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib.signer import CryptoSigner, SSlibKey

from consentry.base.errors import BadInput
from consentry.record import signingkey
from consentry.record.signingkey import Algorithm, SignatureRefused, VerifyingKey, fingerprint_lines
from consentry.store.signingkeys import SigningKey


def pem(key: object, form: PublicFormat = PublicFormat.SubjectPublicKeyInfo) -> str:
    """A public key as other programs write it."""
    content: bytes = key.public_key().public_bytes(Encoding.PEM, form)  # type: ignore[attr-defined]
    return content.decode()


@pytest.mark.parametrize("algorithm", Algorithm)
def test_the_id_is_the_one_that_tuf_computes(algorithm: Algorithm) -> None:
    """Another implementation's keys and ours find each other."""
    made = SigningKey.make(algorithm)
    again = VerifyingKey.from_pem(made.public.pem)
    assert (again, again.algorithm) == (made.public, algorithm)
    generate = {
        Algorithm.ED25519: CryptoSigner.generate_ed25519,
        Algorithm.P256: CryptoSigner.generate_ecdsa,
    }[algorithm]
    theirs = generate().public_key
    assert isinstance(theirs, SSlibKey)
    crypto = theirs._crypto_key()
    assert VerifyingKey.of(crypto).key_id == theirs.keyid


@pytest.mark.parametrize("algorithm", Algorithm)
def test_a_signature_is_good_for_its_message_and_key_alone(algorithm: Algorithm) -> None:
    """Of another message, another key, or changed: refused."""
    key, other = SigningKey.make(algorithm), SigningKey.make(algorithm)
    signature = key.sign(b"message")
    key.public.verify(signature, b"message")
    cases = [
        (key, signature, b"messagf"),
        (other, signature, b"message"),
        (key, signature[:-1] + bytes([signature[-1] ^ 1]), b"message"),
        (key, signature[:-1], b"message"),
        (key, b"", b"message"),
        (key, b"\0" * 64, b"message"),
    ]
    for who, made, message in cases:
        with pytest.raises(SignatureRefused):
            who.public.verify(made, message)


def test_a_signature_of_another_kind_of_key_is_refused() -> None:
    """An Ed25519 signature under a P-256 key, and the other way round."""
    one, other = SigningKey.make(Algorithm.ED25519), SigningKey.make(Algorithm.P256)
    for key, signature in ((one, other.sign(b"m")), (other, one.sign(b"m"))):
        with pytest.raises(SignatureRefused):
            key.public.verify(signature, b"m")


@pytest.mark.parametrize(
    "text",
    [
        pem(rsa.generate_private_key(65537, 2048)),
        pem(ec.generate_private_key(ec.SECP384R1())),
        pem(ed448.Ed448PrivateKey.generate()),
        "",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        "x" * 5000,
    ],
    ids=["rsa", "p384", "ed448", "empty", "torn", "long"],
)
def test_a_key_of_another_kind_is_refused(text: str) -> None:
    """With one typed error."""
    with pytest.raises(BadInput) as refusal:
        VerifyingKey.from_pem(text)
    assert refusal.value.code == "signing-key"


_P = 2**255 - 19
_Y = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
NOBODYS = [0, 1, _P - 1, _P, _P + 1, _Y, _P - _Y, *(each | 1 << 255 for each in (1, _Y, _P - _Y))]
"""Points of small order and other spellings of them, as the numbers that are written down."""


@pytest.mark.parametrize("point", NOBODYS)
def test_a_key_under_which_anybody_signs_is_refused(
    point: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In threes: refused; a key of somebody's is taken; without the control nobody's signature is a good one."""
    found = ed25519.Ed25519PublicKey.from_public_bytes(point.to_bytes(32, "little"))
    with pytest.raises(BadInput, match="anybody can sign"):
        VerifyingKey.of(found)
    somebodys = SigningKey.make(Algorithm.ED25519)
    assert VerifyingKey.from_pem(somebodys.public.pem) == somebodys.public
    monkeypatch.setattr(signingkey, "_check_point", lambda _: None)
    assert any(_is_forged(VerifyingKey.of(found), b"m%d" % each) for each in range(200))


def _is_forged(key: VerifyingKey, message: bytes) -> bool:
    for point in NOBODYS[:3]:
        try:
            key.verify(point.to_bytes(32, "little") + bytes(32), message)
        except SignatureRefused:
            continue
        return True
    return False


def test_the_fingerprint_is_the_id_in_groups() -> None:
    """As people read it to each other."""
    shown = fingerprint_lines("ab" * 32)
    assert shown.replace(" ", "") == "ab" * 32
    assert [len(part) for part in shown.split()] == [8] * 8
