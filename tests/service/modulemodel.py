"""What imported modules may do, as a few plain dictionaries: the model that the product is held against.

Every operation is a generator. It does in one go what the product does in one transaction, and yields
before each: there another process may act, or this one end. What it decides before it yields it has
decided on what it saw; what the product promises to look at again is looked at again behind it.

The model knows nothing of the product's code: no snapshot, no revision, no SQL.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.service.moduleboard import (
    AUTOMATED,
    CATALOG,
    DIGESTS,
    KEY,
    NEEDS,
    STORING,
    requested_by,
)

Said: TypeAlias = tuple[Any, ...]
Steps: TypeAlias = Generator[None, None, Said]
Content: TypeAlias = tuple[str, str]
"""Version and digest."""

DEADLINE_MS: Final = 5 * 60_000
SYSTEM: Final = "system"
UNKNOWN, NOT_REQUESTED = "capability-unknown-id", "capability-not-requested"
NOT_GRANTED, STALE = "capability-not-granted", "capability-grant-stale"
DENIED, LATE = "capability-escalation-denied", "capability-escalation-timeout"
VIOLATION = "capability-policy-violation"
ORDER: Final = (UNKNOWN, NOT_REQUESTED, NOT_GRANTED, STALE, DENIED, LATE, VIOLATION)
FOR_A_PERSON: Final = (NOT_GRANTED, STALE)
STARTED: Final = ("capability_check_started",)
PASSED: Final = (*STARTED, "capability_check_passed")
ASKED: Final = (*STARTED, "capability_escalation_required")
DECIDED: Final = (*ASKED, "capability_escalation_decision", "capability_escalation_result")
REASONS: Final = {
    "approve_session": "user-approved-session",
    "approve_persistent": "user-approved-persistent",
    "deny": "user-denied",
    "cancel": "user-cancelled",
}
SCOPES: Final = {"approve_session": "session", "approve_persistent": "persistent"}


class Raised(Exception):
    """An operation that ends in an error with this code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Actor:
    """One process as the model sees it: its session, by number, and the catalog it came with."""

    session: int
    catalog: str


@dataclass(frozen=True)
class Verdict:
    """What the policy says: the states, the answer no, and what a person could be asked for."""

    states: tuple[str, ...]
    no: tuple[str, str] | None = None
    missing: tuple[tuple[str, str], ...] = ()


@dataclass
class Model:
    """All there is to know. Sessions, questions and grants have numbers, in the order they came."""

    now: int = 0
    mode: str = "normal"
    modules: dict[str, Content] = field(default_factory=dict)
    blocks: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    storage: dict[tuple[str, str], int] = field(default_factory=dict)
    sessions: list[bool] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    grants: list[dict[str, Any]] = field(default_factory=list)
    told: list[Said] = field(default_factory=list)

    def start_session(self) -> Steps:
        """A process begins."""
        yield
        self.sessions.append(True)
        return ("session", len(self.sessions) - 1)

    def end_session(self, number: int) -> Steps:
        """Whoever ends it; one that is over stays over."""
        if self.sessions[number]:
            yield
            self.sessions[number] = False
        return ("ended",)

    def import_good(self, module: str, version: str, content: str) -> Steps:
        """In place of whatever was there; what had other content loses its grants for good."""
        coming = (version, DIGESTS[module, version, content])
        yield
        before = self.modules.get(module)
        for grant in self._standing(module):
            if grant["content"] != coming:
                grant["state"] = "void"
        self.modules[module] = coming
        self._unblock(module)
        if before != coming:
            yield from self._outdate(module)
        return ("imported", before is not None)

    def import_bad(self, module: str, code: str) -> Steps:
        """One event, and for what the catalog does not have one more."""
        yield
        if code == UNKNOWN:
            self.told.append(("rejected", module, "1.0.0", "state.*", UNKNOWN, None))
        return ("refused", code)

    def remove(self, module: str) -> Steps:
        """With its grants and what it stored."""
        self._require_registered(module)
        yield
        self._require_registered(module)
        for grant in self._standing(module):
            grant["state"] = "revoked"
        del self.modules[module]
        self._unblock(module)
        self.storage = {key: value for key, value in self.storage.items() if key[0] != module}
        yield from self._outdate(module)
        return ("removed",)

    def set_mode(self, mode: str) -> Steps:
        """For every module."""
        yield
        self.mode = mode
        self.blocks = {}
        return ("mode",)

    def revoke(self, number: int) -> Steps:
        """By a person; what ended before stays as it was."""
        if self.grants[number]["state"] == "standing":
            yield
            if self.grants[number]["state"] == "standing":
                self.grants[number]["state"] = "revoked"
        return ("revoked",)

    def expire(self) -> Steps:
        """Whoever looks at what is pending."""
        now = self.now
        if self._overdue(now):
            yield
            for question in self._overdue(now):
                self._settle(question, "expired", "deadline")
        return ("expired",)

    def request(self, actor: Actor, module: str, wanted: tuple[str, ...]) -> Steps:
        """Asks ahead, for no action."""
        self._require_registered(module)
        content = self.modules[module]
        verdict = self._check(actor, module, content, wanted, None)
        if verdict.no is None:
            return ("done", verdict.states, None, None)
        if verdict.missing:
            question = yield from self._ask(actor, module, verdict, "interactive", None)
            if question["status"] == "pending":
                return ("waiting", verdict.states, None, None)
            verdict = _after(verdict, question)
        if verdict.no is not None:
            yield from self._reject(module, content, verdict.no, None)
            return ("rejected", verdict.states, *verdict.no)
        return ("done", verdict.states, None, None)

    def invoke(
        self, actor: Actor, module: str, action: str, origin: str, decision: str | None, by: str
    ) -> Steps:
        """An action, with somebody at hand to answer where there is a decision."""
        self._require_registered(module)
        content, is_automation, value = self.modules[module], origin != "interactive", self.now
        needed = tuple(sorted([*NEEDS[action], *(["automation.invoke"] if is_automation else [])]))
        verdict = self._check(actor, module, content, needed, action)
        if verdict.missing:
            question = yield from self._ask(actor, module, verdict, origin, action)
            if decision is not None and question["status"] == "pending":
                yield from self._answer_here(actor, question, decision, by)
            if question["status"] == "pending":
                return ("waiting", verdict.states, None, None)
            verdict = _after(verdict, question)
        no = verdict.no
        if no is None and is_automation and action not in AUTOMATED:
            no = (VIOLATION, "automation.invoke")
        if no is None and action == "save":
            no = (VIOLATION, "export.user.file")
        if no is not None:
            yield from self._reject(module, content, no, action)
            return ("rejected", verdict.states, *no)
        begun = yield from self._begin(actor, module, content, needed, action)
        if begun.no is not None:
            yield from self._reject(module, content, begun.no, action)
            return ("rejected", begun.states, *begun.no)
        states = DECIDED if verdict.states == DECIDED else PASSED
        no, code = yield from self._carry_out(actor, module, content, action, value)
        if no is not None:
            return ("rejected", states, *no)
        return ("done" if code is None else "rejected", states, code, None)

    def answer(self, actor: Actor, number: int, decision: str, by: str) -> Steps:
        """A person's word to a question; the first one counts, in time, for what it was about."""
        question = self.questions[number]
        if question["status"] == "pending" and self.now > question["deadline"]:
            yield from self.expire()
        is_yes = decision in SCOPES
        if question["status"] == "pending":
            if decision == "approve_session" and question["session"] is None:
                raise Raised("answer-refused")
        elif question["status"] == "superseded":
            raise Raised("approval-superseded")
        self._require_open(question)
        is_lapsed = is_yes and _major(question["catalog"]) != _major(actor.catalog)
        if not is_lapsed:
            yield
            self._require_open(question)
            is_over = decision == "approve_session" and not self.sessions[question["session"]]
            is_gone = self.modules.get(question["module"]) != question["content"]
            is_lapsed = is_yes and (is_over or is_gone)
        if is_lapsed:
            yield
            self._require_open(question)
            self._settle(question, "superseded", "policy")
            raise Raised("approval-superseded")
        self._settle(question, "approved" if is_yes else "denied", REASONS[decision], by)
        for capability, _ in question["wanted"] if is_yes else ():
            self._give(question, capability, SCOPES[decision], by, actor.catalog)
        return ("answered", question["status"])

    def _check(
        self,
        actor: Actor,
        module: str,
        content: Content,
        needed: tuple[str, ...],
        action: str | None,
    ) -> Verdict:
        if self.modules.get(module) != content:
            raise Raised("module-unknown")
        lacks = [(lack, each) for each in needed if (lack := self._lack(actor, module, each))]
        first = min(lacks, key=lambda lack: (ORDER.index(lack[0]), lack[1]), default=None)
        if first is not None and first[0] not in FOR_A_PERSON:
            return Verdict(STARTED, first)
        if self.mode == "block-rejected" and (module, action) in self.blocks:
            return Verdict(STARTED, self.blocks[module, str(action)])
        if self.mode in ("deny-all", "inspect-only"):
            return Verdict(STARTED, (NOT_GRANTED, needed[0]))
        if first is None:
            return Verdict(PASSED)
        if self.mode != "normal":
            return Verdict(STARTED, first)
        return Verdict(ASKED, first, tuple((name, lack) for lack, name in lacks))

    def _lack(self, actor: Actor, module: str, capability: str) -> str | None:
        """Why it may not be used; None where it may."""
        if capability not in CATALOG:
            return UNKNOWN
        if capability not in requested_by(self.modules[module][0]):
            return NOT_REQUESTED
        given = [
            each
            for each in self.grants
            if (each["module"], each["capability"]) == (module, capability)
            and each["state"] != "revoked"
        ]
        mine = [each for each in given if each["session"] in (None, actor.session)]
        over = [each for each in given if not self._goes_on(each["session"])]
        for each in mine:
            is_same = each["content"] == self.modules[module] and each not in over
            is_known = _major(each["catalog"]) == _major(actor.catalog)
            if each["state"] == "standing" and is_same and is_known:
                return None
        return STALE if mine or over else NOT_GRANTED

    def _ask(
        self, actor: Actor, module: str, verdict: Verdict, origin: str, action: str | None
    ) -> Generator[None, None, dict[str, Any]]:
        """The question about what is missing: joined, remembered from automation, or put now."""
        session = actor.session if self.sessions[actor.session] else None
        names = tuple(name for name, _ in verdict.missing)
        same = (module, self.modules[module], names, actor.catalog, session, origin)
        alike = [each for each in self.questions if each["same"] == same]
        if origin != "interactive" and alike and alike[-1]["status"] == "denied":
            return alike[-1]
        while True:
            now = self.now
            for each in self._pending():
                if each["same"] == same and each["deadline"] >= now:
                    return each
            question = {
                "same": same,
                "module": module,
                "content": self.modules[module],
                "wanted": verdict.missing,
                "catalog": actor.catalog,
                "session": session,
                "action": action,
                "deadline": now + DEADLINE_MS,
                "status": "pending",
            }
            yield
            if not any(each["same"] == same for each in self._pending()):
                break
            yield from self.expire()
        self.questions.append(question)
        version = question["content"][0]
        for name, lack in verdict.missing:
            self.told.append(("requested", module, version, name, lack, action))
        return question

    def _answer_here(
        self, actor: Actor, question: dict[str, Any], decision: str, by: str
    ) -> Generator[None, None, None]:
        """Where somebody else was quicker, theirs is the answer."""
        try:
            yield from self.answer(actor, self.questions.index(question), decision, by)
        except Raised as lost:
            if lost.code not in ("request-settled", "request-late", "approval-superseded"):
                raise

    def _begin(
        self, actor: Actor, module: str, content: Content, needed: tuple[str, ...], action: str
    ) -> Generator[None, None, Verdict]:
        """All that is needed is used together, or nothing is."""
        verdict = self._check(actor, module, content, needed, action)
        if verdict.no is None:
            yield
            verdict = self._check(actor, module, content, needed, action)
        if verdict.no is None:
            for name in needed:
                self.told.append(("used", module, content[0], name, None, action))
        return verdict

    def _carry_out(
        self, actor: Actor, module: str, content: Content, action: str, value: int
    ) -> Generator[None, None, tuple[tuple[str, str] | None, str | None]]:
        """What the host's command does, and that its end is on record; how it was stopped, if it was."""
        no, code = None, None
        try:
            if action in STORING:
                name = "module.storage.local"
                used = yield from self._begin(actor, module, content, (name,), action)
                no = used.no
                if no is None:
                    self.storage[module, KEY] = value
            if no is None and "state.read" in NEEDS[action]:
                no = self._check(actor, module, content, ("state.read",), action).no
        except Raised as gone:
            code = gone.code
        if no is not None:
            yield from self._reject(module, content, no, action)
        yield
        return no, code

    def _reject(
        self, module: str, content: Content, no: tuple[str, str], action: str | None
    ) -> Generator[None, None, None]:
        yield
        self.told.append(("rejected", module, content[0], no[1], no[0], action))
        is_still = self.modules.get(module) == content
        if self.mode == "block-rejected" and is_still and action is not None:
            self.blocks.setdefault((module, action), no)

    def _give(
        self, question: dict[str, Any], capability: str, scope: str, by: str, catalog: str
    ) -> None:
        grant = {
            "module": question["module"],
            "content": question["content"],
            "capability": capability,
            "scope": scope,
            "session": question["session"] if scope == "session" else None,
            "by": by,
            "catalog": catalog,
            "state": "standing",
        }
        if grant not in self.grants:
            self.grants.append(grant)

    def _settle(self, question: dict[str, Any], status: str, reason: str, by: str = SYSTEM) -> None:
        question["status"] = status
        kind = "approved" if status == "approved" else "denied"
        for name, _ in question["wanted"]:
            version, action = question["content"][0], question["action"]
            self.told.append((kind, question["module"], version, name, (reason, by), action))

    def _outdate(self, module: str) -> Generator[None, None, None]:
        """What the module still waits for is superseded, one by one, as it was asked."""
        waiting = [each for each in self._pending() if each["module"] == module]
        for question in sorted(waiting, key=lambda each: each["deadline"]):
            yield
            if question["status"] == "pending":
                self._settle(question, "superseded", "policy")

    def _pending(self) -> list[dict[str, Any]]:
        return [each for each in self.questions if each["status"] == "pending"]

    def _overdue(self, now: int) -> list[dict[str, Any]]:
        return [each for each in self._pending() if each["deadline"] < now]

    def _standing(self, module: str) -> Iterable[dict[str, Any]]:
        ours = [each for each in self.grants if each["module"] == module]
        return [each for each in ours if each["state"] == "standing"]

    def _unblock(self, module: str) -> None:
        self.blocks = {key: value for key, value in self.blocks.items() if key[0] != module}

    def _goes_on(self, session: int | None) -> bool:
        return session is None or self.sessions[session]

    def _require_registered(self, module: str) -> None:
        if module not in self.modules:
            raise Raised("module-unknown")

    @staticmethod
    def _require_open(question: dict[str, Any]) -> None:
        if question["status"] == "expired":
            raise Raised("request-late")
        if question["status"] != "pending":
            raise Raised("request-settled")


def _after(verdict: Verdict, question: dict[str, Any]) -> Verdict:
    """The check after the question ended so."""
    if question["status"] == "approved":
        return Verdict(DECIDED)
    code = LATE if question["status"] == "expired" else DENIED
    return Verdict(DECIDED, (code, min(name for name, _ in verdict.missing)))


def _major(version: str) -> str:
    return version.partition(".")[0]
