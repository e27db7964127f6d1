"""One of each value that is kept, valid as it stands, for tests to depart from."""

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.decide.acceptance import Acceptance, digest_of_files
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consent import Consent, ConsentTerms
from consentry.decide.consentask import AnswerRules, ConsentAsk
from consentry.decide.grant import Grant, GrantScope, GrantTerms
from consentry.decide.identity import Identity, Role, local_identity, web_identity
from consentry.decide.lasting import Lasts
from consentry.decide.machine import Machine, MachineScope
from consentry.decide.permit import Permit, PermitOrder, make_permit
from consentry.decide.question import Answer, Channel, Outcome, Question, RequestKind
from consentry.decide.session import Leader, Session, SessionKind
from consentry.declare.consent import RememberDuration
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from consentry.surface.lattice import Surface
from tests.decide.previews import build_latex

NOW = Instant.parse("2026-01-01T12:00:00.000Z")
MINUTE = Duration(60_000)
MACHINE = "machine-" + "1" * 32
OTHER_MACHINE = "machine-" + "2" * 32
OWNER: Identity = local_identity(1000, "user", "host")
APPROVER: Identity = web_identity("someone")
DIGEST = Digest("sha256:" + "a" * 64)
OTHER_DIGEST = Digest("sha256:" + "b" * 64)
SURFACE = Surface.of(read=["src/**"], net=["example.com:443"])


def sample_id(prefix: str, number: int = 1) -> str:
    """An id that is always the same."""
    return f"{prefix}-00000000-0000-7000-8000-{number:012x}"


SESSION = sample_id("session")


def question(subject: str = "tool:build", **changes: object) -> Question:
    """A question about a tool."""
    fields: dict[str, object] = {
        "kind": RequestKind.CONSENT,
        "subject": subject,
        "text": "may it build?",
        "preview": {"reads": ["src/a", "src/b"]},
        "digest": DIGEST,
        "policy_hash": DIGEST,
        "session_id": SESSION,
    }
    return Question(**{**fields, **changes})  # type: ignore[arg-type]


def ask(level: ConsentLevel = ConsentLevel.EXPLICIT, **changes: object) -> ConsentAsk:
    """A tool that wants to run; what is not the ask's own is changed in its preview."""
    own: dict[str, object] = {
        "arguments": ("--fast", ""),
        "workspace": "/place/project",
        "rules": AnswerRules(RememberDuration.SESSION, needs_reason=level is ConsentLevel.STRICT),
    }
    shown: dict[str, object] = {"tool": "build", "digest": DIGEST, "surface": SURFACE}
    own |= {name: changes.pop(name) for name in own if name in changes}
    preview = build_latex(level=level, **{**shown, **changes})
    return ConsentAsk(preview, **own)  # type: ignore[arg-type]


def answer(outcome: Outcome = Outcome.APPROVED, by: Identity = OWNER, **changes: object) -> Answer:
    """The owner's yes at the terminal."""
    fields: dict[str, object] = {"role": Role.OWNER, "channel": Channel.TERMINAL}
    return Answer(outcome, by, **{**fields, **changes})  # type: ignore[arg-type]


def acceptance() -> Acceptance:
    """The owner's word for two documents."""
    files = {".consentry/policy.yaml": DIGEST, ".consentry/tools/lint.yaml": OTHER_DIGEST}
    place, digest = "/place/paper", digest_of_files(files)
    return Acceptance(sample_id("acceptance"), MACHINE, place, digest, files, OWNER, NOW)


def request() -> ApprovalRequest:
    """A request that waits for a quarter of an hour."""
    deadline = NOW.plus(Duration(15 * 60_000))
    return ApprovalRequest(sample_id("request"), question(), MACHINE, NOW, deadline)


def terms(lasts: Lasts = Lasts.PERMANENT, **changes: object) -> ConsentTerms:
    """What a person agrees to for a tool."""
    fields: dict[str, object] = {
        "tool": "build",
        "version": "1.0.0",
        "digest": DIGEST,
        "surface": SURFACE,
        "machine_scope": MachineScope(MACHINE),
        "method": ConsentMethod.EXPLICIT_APPROVAL,
        "given_by": OWNER,
        "arguments": ("--fast", "") if lasts is Lasts.ONCE else None,
        "session_id": SESSION if lasts is Lasts.SESSION else None,
        "expires_at": NOW.plus(MINUTE) if lasts is Lasts.UNTIL else None,
    }
    return ConsentTerms(lasts=lasts, **{**fields, **changes})  # type: ignore[arg-type]


def consent(lasts: Lasts = Lasts.PERMANENT, number: int = 1, **changes: object) -> Consent:
    """A consent to those terms."""
    return Consent(sample_id("consent", number), terms(lasts, **changes), NOW)


def grant_terms(scope: GrantScope = GrantScope.PERSISTENT, **changes: object) -> GrantTerms:
    """A capability of a module."""
    fields: dict[str, object] = {
        "host_id": "note-board",
        "module_id": "word-count",
        "module_version": "1.2.3",
        "package_digest": DIGEST,
        "capability_id": "state.read",
        "given_by": OWNER,
        "given_role": Role.OWNER,
        "session_id": SESSION if scope is GrantScope.SESSION else None,
    }
    return GrantTerms(scope=scope, **{**fields, **changes})  # type: ignore[arg-type]


def grant(scope: GrantScope = GrantScope.PERSISTENT, **changes: object) -> Grant:
    """A grant under the first catalog."""
    return Grant(sample_id("grant"), grant_terms(scope, **changes), "1.0.0", NOW)


def order(**changes: object) -> PermitOrder:
    """What a permit is asked for."""
    fields: dict[str, object] = {
        "subject": "tool:build",
        "digests": {"tool": DIGEST, "program": OTHER_DIGEST},
        "arguments": ("make", ""),
        "surface": SURFACE,
        "decision_event_id": sample_id("event"),
    }
    return PermitOrder(**{**fields, **changes})  # type: ignore[arg-type]


def permit() -> Permit:
    """A permit that lives for a minute."""
    return make_permit(order(), sample_id("permit"), MACHINE, NOW)


LEADER = Leader(pid=4242, started_at_ticks=77, boot_id="b0071d00-0000-4000-8000-000000000000")


def session(kind: SessionKind = SessionKind.TERMINAL) -> Session:
    """A session on a terminal."""
    leader = LEADER if kind is SessionKind.TERMINAL else None
    return Session(SESSION, OWNER, MACHINE, kind, leader, NOW)


def machine(*labels: str) -> Machine:
    """A machine of a fleet."""
    return Machine(MACHINE, "host", NOW, labels)
