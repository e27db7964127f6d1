"""The certification corpus: packages and action graphs, each with what an import is to answer.

It shows that a host takes what it has to take and refuses what it has to refuse, for the same reason every
time (CONTRACTS §4-h-kpi-1, §4-h-kpi-2, §4-h-kpi-3). Three kinds of case, listed in `corpus.toml`:

    valid     a package, some with an action graph, which has to be imported
    invalid   a package or a graph that has to be refused, with this code at this place
    action    one action of a graph of a valid case, whose five control fields have to be sound

All of it is data: `host.json` says which commands the packages bind to, the other files lie there byte for
byte as they are tried. `digest` is over every file and over `version`, so that a record which names both
says what exactly was tried. Other programs that read such packages can be tried with the same files.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.canonical import Digest, digest_bytes, digest_json
from consentry.base.values import dataclass, field
from consentry.declare.hostdescription import HostDescription
from consentry.declare.hostfile import read_host

IMPORTED: Final = "imported"
"""What a valid package is answered."""
VALID: Final = "valid"
"""What is said of an action whose control fields are all sound."""

_INDEX: Final = "corpus.toml"
_HOST: Final = "host.json"


class CaseKind(StrEnum):
    """What a case shows."""

    VALID = "valid"
    INVALID = "invalid"
    ACTION = "action"


@dataclass(frozen=True, slots=True)
class CertificationCase:
    """One case: what is tried, and what has to come of it.

    `package` is filled up with blanks to `padded_to` bytes. `action` is the position of the action that an
    action case is about. `path` is None where nothing is refused.
    """

    case_id: str
    kind: CaseKind
    about: str
    package: bytes = field(repr=False)
    graph: bytes | None = field(repr=False)
    code: str
    path: str | None = None
    manifest_code: str | None = None
    padded_to: int = 0
    action: int = 0

    @property
    def content(self) -> bytes:
        """The package as it is handed to an import."""
        return self.package.ljust(self.padded_to)

    @property
    def subject_digest(self) -> Digest:
        """What tells the thing that is tried from every other: the graph's where it is about a graph."""
        is_about_graph = self.kind is not CaseKind.VALID and self.graph is not None
        return digest_bytes(self.graph if is_about_graph and self.graph else self.content)


@dataclass(frozen=True, slots=True)
class CertificationCorpus:
    """The whole corpus; `version` counts up when a case changes."""

    version: str
    digest: Digest
    host: HostDescription
    cases: tuple[CertificationCase, ...]

    def of_kind(self, kind: CaseKind) -> tuple[CertificationCase, ...]:
        """The cases of one kind, in their order."""
        return tuple(each for each in self.cases if each.kind is kind)


@lru_cache(maxsize=1)
def certification_corpus() -> CertificationCorpus:
    """The corpus as shipped."""
    contents = dict(sorted(_contents()))
    index = tomllib.loads(contents[_INDEX].decode())
    version = index["corpusVersion"]
    digests = {name: digest_bytes(content) for name, content in contents.items()}
    return CertificationCorpus(
        version=version,
        digest=digest_json({"corpusVersion": version, "files": digests}),
        host=read_host(contents[_HOST], _HOST),
        cases=tuple(_cases(index, contents)),
    )


def _contents() -> Iterator[tuple[str, bytes]]:
    folder = files(__name__)
    yield _INDEX, folder.joinpath(_INDEX).read_bytes()
    yield _HOST, folder.joinpath(_HOST).read_bytes()
    for place in ("valid", "invalid", "graphs"):
        for each in folder.joinpath(place).iterdir():
            yield f"{place}/{each.name}", each.read_bytes()


def _cases(index: Mapping[str, Any], contents: Mapping[str, bytes]) -> Iterator[CertificationCase]:
    for row in index["valid"]:
        yield _case(row, CaseKind.VALID, contents)
    for row in index["invalid"]:
        yield _case(row, CaseKind.INVALID, contents)
    for row in index["valid"]:
        if "graph" in row:
            yield from _actions(row, contents)


def _case(
    row: Mapping[str, Any], kind: CaseKind, contents: Mapping[str, bytes]
) -> CertificationCase:
    sound = row["id"] if kind is CaseKind.VALID else row.get("package")
    place = f"invalid/{row['id']}.json" if sound is None else f"valid/{sound}.json"
    return CertificationCase(
        case_id=row["id"],
        kind=kind,
        about=row["about"],
        package=contents[place],
        graph=contents[f"graphs/{row['graph']}.json"] if "graph" in row else None,
        code=row.get("code", IMPORTED),
        path=row.get("path"),
        manifest_code=row.get("manifestCode"),
        padded_to=row.get("padded_to", 0),
    )


def _actions(row: Mapping[str, Any], contents: Mapping[str, bytes]) -> Iterator[CertificationCase]:
    graph = contents[f"graphs/{row['graph']}.json"]
    for position, action in enumerate(json.loads(graph)["actions"]):
        yield CertificationCase(
            case_id=f"{row['id']}#{position + 1}",
            kind=CaseKind.ACTION,
            about=f"the action `{action['id']}`",
            package=contents[f"valid/{row['id']}.json"],
            graph=graph,
            code=VALID,
            action=position,
        )
