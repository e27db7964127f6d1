"""Sigstore bundles: verified by the `sigstore` library, under a trust root that the user names.

No network is used: the trust root is a file (`trusted_root.json`), and the library is never asked to
fetch one. A bundle is good when its certificate leads to an authority of that root, carries a
timestamp of a log of certificates, was valid when the signature came into the transparency log, and
names one of the identities of the policy together with its issuer, to the letter.

The time that counts is the beginning of the certificate's validity, which is minutes long: the
signature was made within it, by the log's word. The library comes with the extra `sigstore`.
"""

from typing import TYPE_CHECKING, NoReturn

from consentry.base.clock import Instant
from consentry.decide.evidencecase import Witnessed
from consentry.declare.pluginpolicy import Identity, SigstoreRule
from consentry.examine.pluginproblems import Rejection, VerificationError

if TYPE_CHECKING:
    from sigstore.models import Bundle, TrustedRoot


def witness_bundle(plugin: str, content: bytes, rule: SigstoreRule) -> Witnessed:
    """What the bundle says, once it is found good; raises `VerificationError` otherwise."""
    _require_extra(plugin)
    from sigstore.verify import Verifier, policy  # noqa: PLC0415 # an extra, and slow to load

    bundle = _bundle(plugin, content)
    who = next((each for each in rule.identities if _is_of(bundle, each)), None)
    if who is None:
        _refuse(
            plugin,
            Rejection.IDENTITY_REFUSED,
            "whoever signed is none of the identities that the policy names",
        )
    root = _trust_root(plugin, rule.trust_root)
    # The certificate was only looked at so far: the library holds it against the root, and once more
    # against the identity.
    asked = policy.Identity(identity=who.identity, issuer=who.issuer)
    try:
        kind, payload = Verifier(trusted_root=root).verify_dsse(bundle, asked)
    except Exception as wrong:  # noqa: BLE001 # whatever it makes of a stranger's bytes, it is no
        said = f"the Sigstore bundle is not good: {_short(wrong)}"
        _refuse(plugin, Rejection.SIGNATURE_INVALID, said)
    since = bundle.signing_certificate.not_valid_before_utc
    return Witnessed(kind, payload, who.identity, Instant(int(since.timestamp()) * 1000))


def _require_extra(plugin: str) -> None:
    try:
        import sigstore.verify  # noqa: F401, PLC0415 # an extra, and slow to load
    except ImportError:
        raise VerificationError(
            Rejection.EXTRA_MISSING,
            plugin,
            "the policy asks for a Sigstore identity, and the extra `sigstore` is not installed",
            help_line='install it: pip install "consentry[sigstore]"',
        ) from None


def _bundle(plugin: str, content: bytes) -> "Bundle":
    from sigstore.models import Bundle  # noqa: PLC0415 # as above

    try:
        return Bundle.from_json(content)
    except Exception as wrong:  # noqa: BLE001 # as above
        _refuse(plugin, Rejection.BAD_ENVELOPE, f"this is not a Sigstore bundle: {_short(wrong)}")


def _trust_root(plugin: str, path: str) -> "TrustedRoot":
    from sigstore.models import TrustedRoot  # noqa: PLC0415 # as above

    try:
        return TrustedRoot.from_file(path)
    except OSError as wrong:
        said = (wrong.strerror or "cannot be read").lower()
        _refuse(plugin, Rejection.POLICY_UNREADABLE, f"the trust root `{path}`: {said}")
    except Exception as wrong:  # noqa: BLE001 # as above
        _refuse(plugin, Rejection.POLICY_UNREADABLE, f"the trust root `{path}`: {_short(wrong)}")


def _is_of(bundle: "Bundle", who: Identity) -> bool:
    """Whether the certificate says to be of this identity."""
    from sigstore.verify import policy  # noqa: PLC0415 # as above

    asked = policy.Identity(identity=who.identity, issuer=who.issuer)
    try:
        asked.verify(bundle.signing_certificate)
    except Exception:  # noqa: BLE001 # as above
        return False
    return True


def _short(wrong: Exception) -> str:
    return (str(wrong).splitlines() or [""])[0][:200]


def _refuse(plugin: str, reason: Rejection, message: str) -> NoReturn:
    raise VerificationError(reason, plugin, message)
