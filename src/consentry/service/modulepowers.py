"""What stands behind the gate of a host: the storage of a module, and the file that a user chose.

Each lasting operation is on record in the transaction that makes it, or, for a file, before it is
written; and each only if the capability still holds in that very moment.
"""

import os
from pathlib import Path
from typing import Final

from consentry.base.canonical import Json, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, FilesystemRace, Refused
from consentry.decide.moduleregistration import ActionRun
from consentry.enforce.broker import EXPORTS, STORES
from consentry.enforce.moduleexport import (
    ExportReceipt,
    ExportTarget,
    check_export,
    put_export,
)
from consentry.service.modulegate import ModuleGate
from consentry.service.protection import protected_here
from consentry.service.races import recorded_in
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from consentry.store.modulechecks import Use
from consentry.store.modulestorage import StoredModuleStorage
from consentry.surface.pattern import Anchor, Pattern

_MOST_KEY: Final = 200


class KeptStorage:
    """The keys of the module that acts; there is no way to name another one."""

    def __init__(self, journal: Journal, gate: ModuleGate, run: ActionRun) -> None:
        module = run.module
        self._kept = StoredModuleStorage(
            journal.database, journal.clock, module.host_id, module.module_id
        )
        self._gate = gate
        self._run = run

    def get(self, key: str) -> Json:
        """The value, frozen; None where there is none."""
        found = self._kept.get(key)
        return None if found is None else found.value

    def put(self, key: str, value: Json) -> None:
        """Keeps it, recorded in the same transaction."""
        self._gate.spend(self._run, _use("put", key), self._kept.put_change(key, value))

    def remove(self, key: str) -> None:
        """Forgets it, recorded in the same transaction."""
        self._gate.spend(self._run, _use("remove", key), self._kept.remove_change(key))

    def keys(self) -> tuple[str, ...]:
        """All that the module keeps."""
        return self._kept.keys()


def export_of(
    around: Surroundings, gate: ModuleGate, run: ActionRun, target: ExportTarget, content: bytes
) -> ExportReceipt:
    """Writes the file that was chosen for this export; what is about to be written is on record first."""
    path = os.fsencode(target.path).decode("utf-8", "backslashreplace")
    operation: dict[str, Json] = {
        "operation": "export",
        "path": path,
        "size": len(content),
        "sha256": digest_bytes(content),
    }

    def protects(where: Path) -> str | None:
        names = tuple(part for part in where.parts if part != "/")
        try:
            row = protected_here(around, where).over(Pattern.literal(Anchor.ABSOLUTE, names))
        except ConsentryError:
            return "it cannot be judged whether it is protected"
        return None if row is None else f"it lies in `{row.pattern.text}`: {row.why}"

    check_export(target, content, protected=protects)
    gate.spend(run, Use(EXPORTS, operation))
    try:
        return put_export(target, content, on_race=recorded_in(around))
    except FilesystemRace as race:
        raise Refused(Code.EXPORT_REFUSED, race.message) from race


def _use(what: str, key: str) -> Use:
    return Use(STORES, {"operation": what, "key": key[:_MOST_KEY]})
