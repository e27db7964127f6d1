"""A module in a real store, and all that is asked of the store about it, for the tests of one step each."""

from dataclasses import dataclass, field
from typing import Any, Final

from consentry.base.canonical import Digest, digest_json
from consentry.base.clock import ManualClock
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import CapabilityAsk, WantedPower
from consentry.decide.capabilitycheck import ModuleIdentity, Origin, RejectCode, Standing
from consentry.decide.lasting import Lasts
from consentry.decide.moduleregistration import ACTION_PREFIX, ActionRun, Registration
from consentry.decide.question import Answer, Outcome
from consentry.decide.session import SessionKind
from consentry.store.journal import Journal
from consentry.store.modulechecks import ModuleChecks
from consentry.store.modules import StoredModules
from consentry.surface.catalog import capability_catalog
from tests.decide.samples import NOW, OWNER, answer
from tests.store.keepers import Keepers, events

HOST, MODULE = "note-board", "word-count"
READ, STORE, EXPORT = "state.read", "module.storage.local", "export.user.file"
WANTS: Final = (EXPORT, STORE, READ)
WITHIN: Final = Duration(5 * 60_000)
LONG: Final = Duration(6 * 60_000)


def registration(
    version: str = "1.0.0", content: str = "as it was", host_id: str = HOST, module_id: str = MODULE
) -> Registration:
    """A module as an import hands it over; the content tells one digest from another."""
    document = {"moduleId": module_id, "capabilitiesRequested": list(WANTS), "said": content}
    digest = Digest(digest_json(document))
    identity = ModuleIdentity(host_id, module_id, version, digest)
    return Registration(identity, document, None, OWNER, NOW)


@dataclass
class Kept:
    """One program's view of a store, in a session of its own."""

    keepers: Keepers
    catalog: Any = field(default_factory=capability_catalog)

    def __post_init__(self) -> None:
        keepers = self.keepers
        session = keepers.sessions.start(OWNER, SessionKind.LIBRARY)
        self.session_id = session.session_id
        context = replace(keepers.context, session_id=self.session_id)
        self.journal = Journal(keepers.ledger, keepers.ids, keepers.clock, context)
        self.modules = StoredModules(self.journal, self.catalog)
        self.checks = ModuleChecks(self.journal, HOST, self.catalog)

    def register(self, *parts: str, **named: str) -> Registration | None:
        """Registers it, and gives what was there before."""
        return self.modules.register(registration(*parts, **named), WANTS)

    @property
    def identity(self) -> ModuleIdentity:
        """The module that is registered now."""
        found = self.modules.find(HOST, MODULE)
        assert found is not None
        return found.identity

    def standing(self, module_id: str = MODULE) -> Standing:
        """What it may do now."""
        found = self.checks.standing(module_id)
        assert found is not None
        return found

    def lacks(self) -> dict[str, str]:
        """Of what it wants, what it may not use and why."""
        found = self.standing()
        stale = dict.fromkeys(found.stale, RejectCode.GRANT_STALE.value)
        missing = found.requested - found.granted.keys() - found.stale
        return {**dict.fromkeys(missing, RejectCode.NOT_GRANTED.value), **stale}

    def ask(self, *wanted: str, **changes: Any) -> ApprovalRequest:
        """Puts the question for these, or joins the one that waits."""
        return self.keepers.requests.ask_or_join(self.asking(*wanted, **changes).question(), WITHIN)

    def asking(self, *wanted: str, **changes: Any) -> CapabilityAsk:
        """The question."""
        lack = RejectCode.NOT_GRANTED
        powers = tuple(WantedPower.of(each, lack, self.catalog) for each in wanted or (READ,))
        fields: dict[str, Any] = {
            "module": self.identity,
            "display_name": "Word count",
            "wanted": powers,
            "catalog_version": self.catalog.version,
            "origin": Origin.INTERACTIVE,
            "session_id": self.session_id,
            "action_id": "count",
            "action_label": "Count the words",
            "commands": ("notes.count",),
        }
        return CapabilityAsk(**{**fields, **changes})

    def answer(self, request: ApprovalRequest, said: Answer) -> ApprovalRequest:
        """Answers it."""
        return self.keepers.requests.answer(request.request_id, said)

    def give(self, *wanted: str, lasts: Lasts = Lasts.PERMANENT) -> None:
        """Asks for these, and a person says yes."""
        self.answer(self.ask(*wanted), answer(lasts=lasts))

    def run(self, action_id: str = "count") -> ActionRun:
        """One run of an action of the module that is registered now."""
        number = self.journal.ids.new(ACTION_PREFIX)
        return ActionRun(number, self.identity, action_id, Origin.INTERACTIVE, ("notes.count",))

    def payloads(self, *types: str) -> list[dict[str, Any]]:
        """What is on record of these types."""
        return [each["payload"] for each in events(self.keepers.ledger) if each["type"] in types]

    def wait(self, duration: Duration) -> None:
        """Time passes."""
        assert isinstance(self.keepers.clock, ManualClock)
        self.keepers.clock.advance(duration)


FOR_SESSION: Final = answer(lasts=Lasts.SESSION)
FOR_GOOD: Final = answer(lasts=Lasts.PERMANENT)
NO: Final = answer(Outcome.DENIED, reason="not now")
