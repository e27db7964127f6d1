"""What is remembered of accepted plugins, in the store: one memory stands for a plugin's folder on a machine.

It moves up together with its event, in one transaction, or not at all. Of processes that accept at
once one is first; the others look again, and find that it is done or that they would lower it.
"""

from typing import Final

from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.ids import IdSource
from consentry.base.semver import SemVer
from consentry.base.values import dataclass, replace
from consentry.decide.evidencecase import AcceptedEvidence
from consentry.decide.identity import Identity
from consentry.decide.pluginversion import FIELDS, PREFIX, PluginVersion
from consentry.examine.plugintree import PluginTree
from consentry.record.envelope import Context
from consentry.record.events import EventType
from consentry.store.database import Database
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Ledger
from consentry.store.rows import Overtaken, Table

_STRUCTURED = frozenset({"strength", "evidence", "signers"})
_TABLE = Table("plugin_version", FIELDS, _STRUCTURED, PluginVersion.from_json)
_STANDS = "machine_id = ? AND folder = ? AND plugin = ? AND forgotten_at IS NULL"
_FORGOTTEN = ("forgottenBy", "forgottenAt")
_MOVES = ("version", "digest", "strength", "evidence", "signers", "signedAt", "acceptedAt")
_TELLS = tuple(name for name in FIELDS if name not in _FORGOTTEN)
_MOST_TRIES: Final = 8


@dataclass(frozen=True, slots=True)
class Acceptable:
    """A plugin that passed, to be remembered as such."""

    folder: str
    tree: PluginTree
    version: str
    strength: int
    evidence: AcceptedEvidence


class KnownPluginVersions:
    """What one machine remembers; only to be asked."""

    def __init__(self, database: Database, machine_id: str) -> None:
        self._database = database
        self._machine_id = machine_id

    def remembered(self, folder: str, plugin: str) -> PluginVersion | None:
        """What was accepted of this plugin, if it was and was not forgotten."""
        found = _TABLE.select(self._database, _STANDS, (self._machine_id, folder, plugin))
        return found[0] if found else None

    def all_in(self, folder: str) -> list[PluginVersion]:
        """Every memory of this folder that stands."""
        where = "machine_id = ? AND folder = ? AND forgotten_at IS NULL"
        return _TABLE.select(self._database, where, (self._machine_id, folder), "ORDER BY plugin")


class StoredPluginVersions(KnownPluginVersions):
    """The same, for whoever may accept and have forgotten."""

    def __init__(self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context) -> None:
        super().__init__(ledger.database, context.machine_id)
        self._journal = Journal(ledger, ids, clock, context)

    def accept(self, passed: Acceptable) -> PluginVersion:
        """Remembers it, if that moves the memory up; what is as high already stays as it is.

        Returns what stands then: whoever was overtaken finds in it what they have to meet.
        """
        for _ in range(_MOST_TRIES):
            standing = self.remembered(passed.folder, passed.tree.name)
            if standing is not None and not _moves_up(standing, passed):
                return standing
            try:
                return self._write(standing, passed)
            except Overtaken:
                continue
        raise LedgerProblem(Code.LEDGER_BUSY, f"others keep accepting `{passed.tree.name}` at once")

    def forget(self, folder: str, plugin: str, by: Identity) -> PluginVersion | None:
        """Ends the memory, and returns it; None where there is none."""
        standing = self.remembered(folder, plugin)
        if standing is None:
            return None
        journal = self._journal
        now = journal.clock.now()
        forgotten = standing.forgotten(by, now)
        payload = picked(forgotten.to_json(), "memoryId", "plugin", *_FORGOTTEN)
        about = About(f"plugin:{plugin}", actor=by)
        try:
            journal.record(
                journal.draft(EventType.PLUGIN_FORGOTTEN, about, payload, now),
                change=lambda transaction: _TABLE.update(
                    transaction, forgotten, _FORGOTTEN, "forgotten_at IS NULL"
                ),
            )
        except Overtaken:
            return self.forget(folder, plugin, by)
        return forgotten

    def _write(self, standing: PluginVersion | None, passed: Acceptable) -> PluginVersion:
        journal = self._journal
        now = journal.clock.now()
        fresh = PluginVersion(
            journal.ids.new(PREFIX) if standing is None else standing.memory_id,
            journal.machine_id,
            passed.folder,
            passed.tree.name,
            passed.version,
            passed.tree.digest,
            passed.strength,
            tuple(passed.evidence.kinds),
            passed.evidence.signers,
            passed.evidence.signed_at,
            now,
        )
        if standing is not None:
            fresh = replace(fresh, accepted_at=max(now, standing.accepted_at))
        payload = picked(fresh.to_json(), *_TELLS)
        draft = journal.draft(
            EventType.PLUGIN_ACCEPTED, About(f"plugin:{fresh.plugin}"), payload, now
        )
        if standing is None:
            journal.record(draft, change=lambda each: _TABLE.insert(each, fresh))
        else:
            only_if = "forgotten_at IS NULL AND version = ? AND digest = ? AND strength = ?"
            as_it_was = (standing.version, standing.digest, str(standing.strength))
            journal.record(
                draft,
                change=lambda each: _TABLE.update(each, fresh, _MOVES, only_if, as_it_was),
            )
        return fresh


def _moves_up(standing: PluginVersion, passed: Acceptable) -> bool:
    """Whether it is a higher version, or the same one by more; never by fewer signers."""
    if passed.strength < standing.strength:
        return False
    offered, highest = SemVer.parse(passed.version).rank, SemVer.parse(standing.version).rank
    if offered != highest:
        return offered > highest
    stronger = passed.strength > standing.strength
    return stronger or not set(passed.evidence.kinds) <= set(standing.evidence)
