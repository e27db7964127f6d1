"""Acceptances: a person's recorded word that a workspace's configuration counts like their own.

It names the workspace, the machine, and one digest over every document in the folder and every
program of the workspace that its tools start. So any byte that changes, any document that comes or
goes, is not accepted any more. A withdrawn one never comes back; accepting again makes another.

An acceptance says how much a configuration counts. It starts nothing and is no consent to a run.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.values import dataclass, replace
from consentry.decide.fields import (
    Fields,
    as_json,
    check_digest,
    check_id_field,
    check_not_before,
    check_pair,
    check_text,
    problem,
)
from consentry.decide.identity import Identity, check_identity, check_person
from consentry.decide.machine import check_machine_id
from consentry.record.fields import read_list

PREFIX: Final = "acceptance"
FIELDS: Final = (
    "acceptanceId",
    "machineId",
    "workspace",
    "digest",
    "files",
    "acceptedBy",
    "acceptedAt",
    "withdrawnBy",
    "withdrawnAt",
)


def digest_of_files(files: Mapping[str, Digest]) -> Digest:
    """The one digest over all files of a workspace that have a say, by their paths in it."""
    return digest_json(dict(files))


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What was accepted, where, by whom, and whether it still stands."""

    acceptance_id: str
    machine_id: str
    workspace: str
    digest: Digest
    files: Mapping[str, Digest]
    accepted_by: Identity
    accepted_at: Instant
    withdrawn_by: Identity | None = None
    withdrawn_at: Instant | None = None

    def __post_init__(self) -> None:
        check_id_field("acceptanceId", self.acceptance_id, PREFIX)
        check_machine_id("machineId", self.machine_id)
        check_text("workspace", self.workspace)
        check_digest("digest", self.digest)
        if digest_of_files(self.files) != self.digest:
            raise problem("digest", "this is not the digest of the files that are named")
        check_person("acceptedBy", self.accepted_by)
        check_pair("withdrawnBy", self.withdrawn_by, "withdrawnAt", self.withdrawn_at)
        if self.withdrawn_by is not None:
            check_identity("withdrawnBy", self.withdrawn_by)
        check_not_before("withdrawnAt", self.withdrawn_at, self.accepted_at)

    def withdrawn(self, by: Identity, now: Instant) -> "Acceptance":
        """The same acceptance, taken back."""
        return replace(self, withdrawn_by=by, withdrawn_at=max(now, self.accepted_at))

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "acceptanceId": self.acceptance_id,
            "machineId": self.machine_id,
            "workspace": self.workspace,
            "digest": self.digest,
            "files": [{"path": path, "hash": self.files[path]} for path in sorted(self.files)],
            "acceptedBy": self.accepted_by,
            "acceptedAt": str(self.accepted_at),
            "withdrawnBy": self.withdrawn_by,
            "withdrawnAt": as_json(self.withdrawn_at),
        }

    @classmethod
    def from_json(cls, document: object) -> "Acceptance":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        withdrawn_by = fields.optional_text("withdrawnBy")
        return cls(
            acceptance_id=fields.text("acceptanceId"),
            machine_id=fields.text("machineId"),
            workspace=fields.text("workspace"),
            digest=fields.digest("digest"),
            files=_files(fields.value("files")),
            accepted_by=Identity(fields.text("acceptedBy")),
            accepted_at=fields.instant("acceptedAt"),
            withdrawn_by=None if withdrawn_by is None else Identity(withdrawn_by),
            withdrawn_at=fields.optional_instant("withdrawnAt"),
        )


def _files(listed: Json) -> Mapping[str, Digest]:
    rows = [
        Fields(row, ("path", "hash")) for row in read_list("files", listed, Code.DECISION_FIELD)
    ]
    return MappingProxyType({row.text("path"): row.digest("hash") for row in rows})


class Accepted(Protocol):
    """Knows what was accepted on the machine this program runs on."""

    def has_any(self, workspace: str) -> bool:
        """Whether anything is accepted in this workspace at all, whatever its files are now."""
        ...

    def standing(self, workspace: str) -> Acceptance | None:
        """The one that was accepted last and not withdrawn, whatever the files are now."""
        ...

    def is_accepted(self, workspace: str, digest: Digest) -> bool:
        """Whether these very documents were accepted in this workspace, and not withdrawn."""
        ...

    def covers(self, workspace: str, file: str, digest: Digest) -> bool:
        """Whether what was accepted last has this file with this digest, whatever the others are."""
        ...


class Acceptances(Accepted, Protocol):
    """Where acceptances are kept; every question is about the machine this program runs on."""

    def accept(self, workspace: str, files: Mapping[str, Digest], by: Identity) -> Acceptance:
        """Records the word; what was accepted before in the same workspace is withdrawn with it."""
        ...

    def withdraw(self, workspace: str, by: Identity) -> Sequence[Acceptance]:
        """Takes back whatever stands for the workspace, and returns it."""
        ...


class NothingAccepted:
    """What was accepted where nothing was ever kept."""

    def standing(self, workspace: str) -> Acceptance | None:  # noqa: ARG002 - as every other
        """None."""
        return None

    def has_any(self, workspace: str) -> bool:  # noqa: ARG002 - as every other
        """Never."""
        return False

    def is_accepted(self, workspace: str, digest: Digest) -> bool:  # noqa: ARG002 - as every other
        """Never."""
        return False

    def covers(self, workspace: str, file: str, digest: Digest) -> bool:  # noqa: ARG002 - as above
        """Never."""
        return False


class AsIfAccepted:
    """For showing what an acceptance would change, before there is one; for no other use."""

    def standing(self, workspace: str) -> Acceptance | None:  # noqa: ARG002 - as every other
        """None: nobody has accepted anything."""
        return None

    def has_any(self, workspace: str) -> bool:  # noqa: ARG002 - as every other
        """Always."""
        return True

    def is_accepted(self, workspace: str, digest: Digest) -> bool:  # noqa: ARG002 - as every other
        """Always."""
        return True

    def covers(self, workspace: str, file: str, digest: Digest) -> bool:  # noqa: ARG002 - as above
        """Always."""
        return True
