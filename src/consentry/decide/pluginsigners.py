"""Whose signatures are good, and whether enough of those who count have signed.

Good is a signature of a known key over these very bytes; a revoked key refuses whatever it is on. Who
counts is the policy's word, and of these only keys that are neither expired nor of a time that has not
come. They are counted by name and by key, whichever is fewer.
"""

from typing import NoReturn

from consentry.decide.evidencecase import EvidenceCase
from consentry.declare.dsseenvelope import Envelope, Signed
from consentry.declare.trustedkeys import TrustedKey
from consentry.examine.pluginproblems import Rejection
from consentry.record.signingkey import SignatureRefused


def good_key(case: EvidenceCase, envelope: Envelope, signed: Signed) -> TrustedKey:
    """The known key of a signature, which has to be a good one; raises otherwise."""
    key = case.keys.by_id(signed.key_id)
    if key is None:
        case.refuse(
            Rejection.UNKNOWN_KEY,
            f"the key `{signed.key_id}` is not known",
            "get the key from its owner and accept it with `consentry keys trust`",
        )
    check_signature(case, key, signed.signature, envelope.signed_message())
    return key


def check_signature(case: EvidenceCase, key: TrustedKey, signature: bytes, message: bytes) -> None:
    """Raises unless the key made this signature and is not revoked; whether it counts is another question."""
    try:
        key.key.verify(signature, message)
    except SignatureRefused:
        case.refuse(
            Rejection.SIGNATURE_INVALID,
            f"the signature of `{key.name}` is not over this content (key `{key.key_id}`)",
        )
    if key.revoked_at is not None:
        case.refuse(
            Rejection.KEY_REVOKED,
            f"the key `{key.key_id}` of `{key.name}` is revoked: {key.revoked_why}",
            "have it signed with another key",
        )


def enough(case: EvidenceCase, keys: tuple[TrustedKey, ...]) -> tuple[str, ...]:
    """The names that count; raises when they are fewer than the rule asks for."""
    asked = [each for each in keys if each.name in case.rule.signers]
    good = [each for each in asked if each.is_usable(case.now)]
    names = tuple(sorted({each.name for each in good}))
    needed = max(1, case.rule.threshold)
    if min(len(names), len({each.key_id for each in good})) < needed:
        _refuse_count(case, asked, names)
    return names


def _refuse_count(case: EvidenceCase, asked: list[TrustedKey], names: tuple[str, ...]) -> NoReturn:
    early = [each for each in asked if case.now < each.made_at]
    if early:
        case.refuse(
            Rejection.KEY_NOT_YET_VALID,
            f"the key of `{early[0].name}` is from {early[0].made_at}, which has not come",
        )
    late = [each for each in asked if not each.is_usable(case.now)]
    if late:
        case.refuse(
            Rejection.KEY_EXPIRED, f"the key of `{late[0].name}` expired at {late[0].expires_at}"
        )
    of = ", ".join(f"`{name}`" for name in case.rule.signers)
    who = ", ".join(f"`{name}`" for name in names) or "nobody of them"
    case.refuse(
        Rejection.TOO_FEW_SIGNERS,
        f"{count_of_signers(max(1, case.rule.threshold))} of {of} must have signed, and it was {who}",
    )


def count_of_signers(count: int) -> str:
    """So many, in words."""
    return "1 signer" if count == 1 else f"{count or 'no'} signers"
