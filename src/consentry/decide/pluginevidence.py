"""Whether the evidence beside a plugin is what the user's policy asks for: one procedure, in order.

`check_plugin_evidence` takes values and returns what was accepted, or raises `VerificationError` with
one reason; every step either passes or raises. It opens no file and asks no clock.

Decided here, and documented in docs/explanation/signing.md:
- Every signature of an envelope has to be a good one of a known key: one more that nobody can check
  is tampering. Which of them count is the policy's word.
- A signature of a revoked key refuses the envelope, whatever times it claims. One of a key that has
  expired, or that is of a time that has not come, does not count.
- Signers are counted by name and by key, whichever is fewer.
- What was once accepted with evidence needs as much from then on, also when the policy has lost its
  row; only `consentry plugins forget` ends that.

Not promised: that a signer's time is true. `signedAt` is their word; Sigstore's times are a log's.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from consentry.base.clock import Instant
from consentry.base.errors import BadInput
from consentry.base.semver import SemVer
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.decide.evidencecase import (
    AcceptedEvidence,
    EvidenceCase,
    EvidenceKind,
)
from consentry.decide.plugincoverage import check_covers, check_lists
from consentry.decide.pluginsigners import (
    check_signature,
    count_of_signers,
    enough,
    good_key,
)
from consentry.declare import omsbundle, pluginstatement
from consentry.declare.dsseenvelope import (
    IN_TOTO,
    problem,
    read_envelope,
    signed_message,
)
from consentry.declare.omsbundle import oms_statement, read_oms_bundle
from consentry.declare.pluginpolicy import SigstoreRule
from consentry.declare.pluginstatement import plugin_statement, read_statement
from consentry.examine.pluginproblems import Rejection

Read = TypeVar("Read")

CLOCK_TOLERANCE: Final = Duration(5 * 60_000)
"""How far another machine's clock may be ahead of ours."""


@dataclass(frozen=True, slots=True)
class _Said:
    """When it was signed by its own word, and until when it holds by it."""

    signed_at: Instant | None
    expires_at: Instant | None = None


def check_plugin_evidence(case: EvidenceCase) -> AcceptedEvidence | None:
    """Raises unless the evidence is what the rule asks for; None where it asks for none."""
    # 1. The policy must not ask for less than this plugin was accepted by before: a row that got
    #    lost would let an unsigned plugin in under the name of a signed one.
    _check_not_lowered(case)
    # 2. A clock that went back makes expired keys good again and old evidence fresh.
    _check_clock(case)
    # 3. An older version, or the same one with other contents, is a roll-back even if well signed.
    _check_not_rolled_back(case)
    # 4. `integrity` asks for nothing more; whoever called has checked the lock.
    if case.rule.strength == 0:
        return None
    found: list[tuple[EvidenceKind, tuple[str, ...], _Said]] = []
    if case.rule.signers:
        # 5. Which evidence is there, and is its format allowed? Missing is not weaker, it is no.
        kind, content = _chosen(case)
        # 6. Read it, strictly; what cannot be read says nothing.
        # 7. Every signature must be a good one of a known key; then enough of those that count.
        # 8. Only now is the payload looked at: is it about this plugin, version and whole tree?
        # 9. Times: not from the future, not past its end, fresh enough.
        signers, said = (_dsse if kind is EvidenceKind.DSSE else _oms)(case, content)
        _check_times(case, said)
        found.append((kind, signers, said))
    if case.rule.sigstore is not None:
        # 10. The same for an identity: certificate and log by the sigstore library, under the trust
        #     root of the policy; then payload and times as above.
        identity, said = _sigstore(case, case.rule.sigstore)
        _check_times(case, said)
        found.append((EvidenceKind.SIGSTORE, (identity,), said))
    # 11. A rule that names nobody was passed by nobody.
    if not found:
        case.refuse(Rejection.TOO_FEW_SIGNERS, "the rule names nobody who could have signed")
    times = [said.signed_at for _, _, said in found if said.signed_at is not None]
    return AcceptedEvidence(
        tuple(kind for kind, _, _ in found),
        tuple(name for _, names, _ in found for name in names),
        min(times, default=None),
    )


def _check_not_lowered(case: EvidenceCase) -> None:
    before = case.remembered
    if before is not None and case.rule.strength < before.strength:
        case.refuse(
            Rejection.DOWNGRADED,
            f"it was accepted with {count_of_signers(before.strength)} before, and the policy now asks for "
            f"{count_of_signers(case.rule.strength)}",
            f"put the row back, or run `consentry plugins forget {case.tree.name}` if this is meant",
        )


def _check_clock(case: EvidenceCase) -> None:
    before = case.remembered
    if before is not None and case.now.plus(CLOCK_TOLERANCE) < before.accepted_at:
        case.refuse(
            Rejection.CLOCK_SET_BACK,
            f"the clock says {case.now}, and this plugin was accepted at {before.accepted_at}",
            "set the clock right",
        )


def _check_not_rolled_back(case: EvidenceCase) -> None:
    before = case.remembered
    if before is None:
        return
    offered, highest = SemVer.parse(case.version), SemVer.parse(before.version)
    meant = f"run `consentry plugins forget {case.tree.name}` if this is meant"
    if offered.rank < highest.rank:
        case.refuse(
            Rejection.ROLLED_BACK,
            f"version `{case.version}` is older than `{before.version}`, which was accepted before",
            meant,
        )
    if offered.rank == highest.rank and case.tree.digest != before.digest:
        case.refuse(
            Rejection.ROLLED_BACK,
            f"version `{case.version}` was accepted before with other contents",
            meant,
        )


def _chosen(case: EvidenceCase) -> tuple[EvidenceKind, bytes]:
    offered, before = case.offered, case.remembered
    if offered.dsse is not None:
        return EvidenceKind.DSSE, offered.dsse
    if before is not None and EvidenceKind.DSSE in before.evidence:
        case.refuse(
            Rejection.DOWNGRADED,
            f"it was accepted by `{EvidenceKind.DSSE.file(case.tree.name)}` before, and that is gone",
        )
    if offered.oms is None:
        reason = Rejection.UNSIGNED if before is None else Rejection.DOWNGRADED
        case.refuse(
            reason,
            f"the policy asks for {count_of_signers(case.rule.threshold)}, and nobody signed",
        )
    if not case.rule.oms:
        case.refuse(
            Rejection.FORMAT_NOT_ALLOWED,
            "there is an OMS bundle alone, and the policy does not take one for this plugin",
            "write `oms: true` in its row if one is enough",
        )
    return EvidenceKind.OMS, offered.oms


def _dsse(case: EvidenceCase, content: bytes) -> tuple[tuple[str, ...], _Said]:
    envelope = _readable(case, EvidenceKind.DSSE, lambda: read_envelope(content))
    keys = tuple(good_key(case, envelope, signed) for signed in envelope.signatures)
    signers = enough(case, keys)
    if envelope.payload_type != IN_TOTO:
        case.refuse(
            Rejection.BAD_ENVELOPE, f"`{envelope.payload_type}` is not an in-toto statement"
        )
    return signers, _covered(case, EvidenceKind.DSSE, envelope.payload, takes_oms=False)


def _oms(case: EvidenceCase, content: bytes) -> tuple[tuple[str, ...], _Said]:
    bundle = _readable(case, EvidenceKind.OMS, lambda: read_oms_bundle(content))
    key = case.keys.by_hint(bundle.hint)
    if key is None:
        case.refuse(Rejection.UNKNOWN_KEY, f"the key with the hint `{bundle.hint}` is not known")
    check_signature(case, key, bundle.signature, signed_message(IN_TOTO, bundle.payload))
    signers = enough(case, (key,))
    return signers, _covered(case, EvidenceKind.OMS, bundle.payload, takes_oms=True)


def _sigstore(case: EvidenceCase, rule: SigstoreRule) -> tuple[str, _Said]:
    if case.offered.sigstore is None:
        reason = Rejection.UNSIGNED if case.remembered is None else Rejection.DOWNGRADED
        case.refuse(reason, "the policy asks for a Sigstore bundle, and there is none")
    witnessed = case.witness(case.offered.sigstore, rule)
    if witnessed.payload_type != IN_TOTO:
        case.refuse(
            Rejection.BAD_ENVELOPE, f"`{witnessed.payload_type}` is not an in-toto statement"
        )
    said = _covered(case, EvidenceKind.SIGSTORE, witnessed.payload, takes_oms=case.rule.oms)
    # The log's time counts, not the signer's.
    return witnessed.identity, _Said(witnessed.at, said.expires_at)


def _covered(case: EvidenceCase, kind: EvidenceKind, payload: bytes, *, takes_oms: bool) -> _Said:
    def read() -> _Said:
        fields = read_statement(payload)
        if takes_oms and fields["predicateType"] == omsbundle.PREDICATE:
            check_lists(oms_statement(fields), case.tree)
            return _Said(None)
        if kind is EvidenceKind.OMS or fields["predicateType"] != pluginstatement.PREDICATE:
            raise problem(f"`{fields['predicateType']}` says nothing about a plugin")
        statement = plugin_statement(fields)
        check_covers(statement, case.tree, case.version)
        return _Said(statement.signed_at, statement.expires_at)

    return _readable(case, kind, read)


def _check_times(case: EvidenceCase, said: _Said) -> None:
    at = said.signed_at
    if at is not None and at > case.now.plus(CLOCK_TOLERANCE):
        case.refuse(
            Rejection.CLOCK_SET_BACK,
            f"it was signed at {at}, and the clock says {case.now}",
            "set the clock right; if it is right, the signer's was not",
        )
    if said.expires_at is not None and case.now >= said.expires_at:
        case.refuse(
            Rejection.EVIDENCE_EXPIRED, f"it holds until {said.expires_at}, by its own word"
        )
    longest = case.rule.freshness
    if longest is None:
        return
    if at is None:
        case.refuse(
            Rejection.STALE, "the policy asks how fresh it is, and this format does not tell a time"
        )
    if case.now > at.plus(longest):
        case.refuse(Rejection.STALE, f"it was signed at {at}, which is longer ago than {longest}")


def _readable(case: EvidenceCase, kind: EvidenceKind, read: Callable[[], Read]) -> Read:
    try:
        return read()
    except BadInput as wrong:
        place = "" if wrong.where is None else f" {wrong.where}"
        file = kind.file(case.tree.name)
        case.refuse(Rejection.BAD_ENVELOPE, f"`{file}`{place}: {wrong.message}", wrong.help_line)
