"""Capability tokens: four typed models, and `mint()`, the one place where they are made (TRUST §token).

A token says what one workflow may do in one workspace, until when, and on whose consent. It is audit +
lint: a token can be constructed by any code that imports its type, and that is why an operation asks
the ledger whether the one in hand was minted (`decide.tokenrecords`). What the types themselves hold is
that a token for a push cannot be expressed: `GitLocalOpsCapability` has no field for it, and no other
field than its own is taken.

`mint()` checks the consent that the caller names and records `CapabilityMinted`; both, with the use of a
consent for once, are one transaction. No record, no token.

This module alone in the core imports pydantic (CONTRACTS §7-tokens).
"""

import re
import unicodedata
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, Self, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    field_validator,
    model_validator,
)

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, Refused, Where
from consentry.base.units import Duration
from consentry.base.values import dataclass, field, replace
from consentry.decide.budgets import Budget, UseKind
from consentry.decide.consent import Consent
from consentry.decide.consentcheck import ConsentNeed, Lack, lack_of
from consentry.decide.gitoperations import GRAMMARS, GitLocalOperation
from consentry.decide.tokenrecords import (
    LONGEST_LIFE,
    USUAL_LIFE,
    MintedToken,
    MintRecords,
    TokenUse,
)
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Anchor, Pattern

NPM_WRITES: Final = ("node_modules/", "package.json", "package-lock.json")
"""What an install writes in the workspace, and nothing else."""

SCRIPT_PROGRAMS: Final = ("sh", "node")
"""What scripts of packages are run with, and all that they may start."""

_PACKAGE: Final = re.compile(
    # A range that begins with a dot is a folder to npm, and a name that begins with a dash an option.
    r"(?:@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*"
    r"(?:@[0-9A-Za-z^~<>=*|+ -][0-9A-Za-z.^~<>=*|+ -]*)?"
    r"|\./[A-Za-z0-9._@/+-]+",
    re.ASCII,
)


def _instant(value: object) -> Instant:
    if isinstance(value, Instant):
        return value
    try:
        return Instant.parse(str(value))
    except ConsentryError as problem:
        raise ValueError(problem.message) from None


Moment: TypeAlias = Annotated[
    Instant, PlainValidator(_instant), PlainSerializer(str, return_type=str)
]


class BaseToken(BaseModel):
    """What all four have: which one it is, for what and where, on whose word, and how long."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True
    )
    _HEAD: ClassVar = (
        "token_id",
        "workflow",
        "workspace",
        "tool",
        "consent_id",
        "minted_at",
        "expires_at",
    )

    token_id: str
    workflow: str
    workspace: str
    tool: str
    consent_id: str
    minted_at: Moment
    expires_at: Moment

    @property
    @abstractmethod
    def surface(self) -> Surface:
        """The powers that the token stands for."""

    @property
    def scope(self) -> dict[str, Json]:
        """What it is for, without the head."""
        return self.model_dump(mode="json", exclude=set(self._HEAD))

    @property
    def digest(self) -> Digest:
        """Over all that it says; the ledger has the one it was minted with."""
        return digest_json({"capability": type(self).__name__, **self.model_dump(mode="json")})

    @property
    def text(self) -> str:
        """The token as JSON, for another process of the same workflow."""
        return self.model_dump_json()

    @classmethod
    def from_text(cls, text: str | bytes) -> Self:
        """The token that `text` is; whether it was ever minted is asked when it is used."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as problem:
            raise _refused_fields(problem) from None

    def use(self, kind: UseKind, operation: str, target: str | None) -> TokenUse:
        """An operation with this token, as it is recorded."""
        name = type(self).__name__
        return TokenUse(self.token_id, name, self.workflow, self.digest, kind, operation, target)


class NpmInstallCapability(BaseToken):
    """Packages that may be installed, from which hosts, and whether their scripts may run.

    Without packages it is for what the project's own `package.json` lists.
    """

    packages: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    run_scripts: bool = False

    @field_validator("packages")
    @classmethod
    def _names(cls, packages: tuple[str, ...]) -> tuple[str, ...]:
        for each in packages:
            if _PACKAGE.fullmatch(each) is None or ".." in each.split("/"):
                raise ValueError(f"`{each}` is neither a package's name nor a `./` path")
        return packages

    @property
    def surface(self) -> Surface:
        """Reads the workspace, writes what an install writes, reaches its hosts, starts npm."""
        return Surface.of(
            read=["./"],
            write=NPM_WRITES,
            net=self.hosts or Level.NONE,
            run=["npm", *(SCRIPT_PROGRAMS if self.run_scripts else ())],
        )


class FsReadWriteCapability(BaseToken):
    """Patterns of the workspace that may be read and written."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()

    @field_validator("read", "write")
    @classmethod
    def _inside(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for each in patterns:
            try:
                anchor = Pattern.parse(each).anchor
            except ConsentryError as problem:
                raise ValueError(problem.message) from None
            if anchor is not Anchor.WORKSPACE:
                raise ValueError(f"`{each}` does not lie in the workspace")
        return patterns

    @property
    def surface(self) -> Surface:
        """Exactly its patterns."""
        return Surface.of(read=self.read, write=self.write)


class GitLocalOpsCapability(BaseToken):
    """Local operations of git; one that speaks to another repository has no name here."""

    operations: frozenset[GitLocalOperation]

    @field_validator("operations", mode="before")
    @classmethod
    def _named(cls, operations: object) -> object:
        """Words for the operations are as good as the operations."""
        if isinstance(operations, list | tuple | set | frozenset):
            return frozenset(GitLocalOperation(each) for each in operations)
        return operations

    @property
    def surface(self) -> Surface:
        """Reads the workspace, writes what its operations write, starts git, reaches nobody."""
        writes = {GRAMMARS[each].writes for each in self.operations} - {None}
        return Surface.of(
            read=["./"], write=sorted(each for each in writes if each is not None), run=["git"]
        )

    @property
    def scope(self) -> dict[str, Json]:
        """The operations, in one order."""
        return {"operations": sorted(each.value for each in self.operations)}

    @property
    def digest(self) -> Digest:
        """As of the others; a set has no order of its own."""
        told = self.model_dump(mode="json", exclude={"operations"})
        return digest_json({"capability": type(self).__name__, **told, **self.scope})


Single: TypeAlias = NpmInstallCapability | FsReadWriteCapability | GitLocalOpsCapability


class CapabilityBundle(BaseToken):
    """Up to three tokens of one workflow that were minted together; each is recorded by itself."""

    npm: NpmInstallCapability | None = None
    files: FsReadWriteCapability | None = None
    git: GitLocalOpsCapability | None = None

    @model_validator(mode="after")
    def _filled(self) -> Self:
        if not self.parts:
            raise ValueError("a bundle has at least one token in it")
        return self

    @property
    def parts(self) -> tuple[Single, ...]:
        """The tokens in it."""
        return tuple(each for each in (self.npm, self.files, self.git) if each is not None)

    @property
    def surface(self) -> Surface:
        """What its parts stand for together."""
        joined = Surface.of()
        for each in self.parts:
            joined |= each.surface
        return joined

    @property
    def scope(self) -> dict[str, Json]:
        """The ids of its parts, which say the rest."""
        named = {"npm": self.npm, "files": self.files, "git": self.git}
        return {name: each.token_id for name, each in named.items() if each is not None}

    @property
    def digest(self) -> Digest:
        """Over its own head and the digests of its parts."""
        told = self.model_dump(mode="json", exclude={"npm", "files", "git"})
        parts: list[Json] = [each.digest for each in self.parts]
        return digest_json({"capability": type(self).__name__, **told, "parts": parts})


AnyToken = TypeVar("AnyToken", bound=BaseToken)
_PARTS: Final[Mapping[str, type[Single]]] = {
    "npm": NpmInstallCapability,
    "files": FsReadWriteCapability,
    "git": GitLocalOpsCapability,
}
_KINDS: Final[tuple[type[BaseToken], ...]] = (*_PARTS.values(), CapabilityBundle)
_LONGEST_WORKFLOW: Final = 200


@dataclass(frozen=True, slots=True)
class MintOrder:
    """For what a token is to be minted, against which consent, and for how long at most.

    Without a workspace it is for the one that is found from the current folder; `mint` gets its path.
    """

    consent_id: str
    tool: str
    workflow: str
    workspace: str | None
    life: Duration = USUAL_LIFE
    budget: Budget = field(default_factory=Budget)


def mint(
    capability: type[AnyToken],
    scope: Mapping[str, Any],
    order: MintOrder,
    need: ConsentNeed,
    records: MintRecords,
) -> AnyToken:
    """The token, recorded; raises where the consent does not hold, does not cover it, or no record is.

    Args:
        capability: which of the four.
        scope: its own fields; of a bundle, the fields of each part.
        order: what it is for.
        need: the tool as it is now, whose consent was given; surface and arguments are the token's.
        records: where the consent is found and the token recorded.
    """
    if not any(capability is each for each in _KINDS):
        # Any other type could say of itself that it stands for nothing.
        name = getattr(capability, "__name__", capability)
        raise _wrong_field("capability", f"`{name}` is none of the types that are minted")
    consent, now = records.consent(order.consent_id), records.now()
    if consent is None:
        raise Refused(Code.MINT_REFUSED, f"no consent has the id `{order.consent_id}`")
    token = _made(capability, scope, _head(order, consent, now), records)
    _require_covered(token, consent, need, now)
    records.record(list(_recorded(token, records.machine_id)), order.budget)
    return token


def _head(order: MintOrder, consent: Consent, now: Instant) -> dict[str, object]:
    if not Duration(0) < order.life <= LONGEST_LIFE:
        raise _wrong_field("life", f"a token lives more than nothing and at most {LONGEST_LIFE}")
    _check_workflow(order.workflow)
    end = now.plus(order.life)
    ends = consent.terms.expires_at
    return {
        "workflow": order.workflow,
        "workspace": order.workspace,
        "tool": order.tool,
        "consent_id": order.consent_id,
        "minted_at": now,
        "expires_at": end if ends is None else min(end, ends),
    }


def _made(
    capability: type[AnyToken],
    scope: Mapping[str, Any],
    head: Mapping[str, object],
    records: MintRecords,
) -> AnyToken:
    fields = dict(scope)
    if capability is CapabilityBundle:
        for name, of_type in _PARTS.items():
            if fields.get(name) is not None:
                fields[name] = _made(of_type, _part_fields(name, fields[name]), head, records)
    else:
        fields = {name: _as_field(value) for name, value in fields.items()}
    try:
        return capability(token_id=records.new_id(), **{**fields, **head})
    except ValidationError as problem:
        raise _refused_fields(problem) from None
    except (TypeError, UnicodeError) as problem:
        raise BadInput(Code.DECISION_FIELD, str(problem)) from None


def _part_fields(name: str, given: object) -> Mapping[str, Any]:
    """The fields of a part; a token that somebody made has a head of its own, and is no part."""
    if not isinstance(given, Mapping):
        raise _wrong_field(name, "a part of a bundle is given by its fields, and minted with it")
    return given


def _check_workflow(name: str) -> None:
    """Raises where two names that look the same would have two budgets, or no index could hold it."""
    is_plain = name.isprintable() and name == name.strip()
    if not (
        0 < len(name) <= _LONGEST_WORKFLOW and is_plain and unicodedata.is_normalized("NFC", name)
    ):
        said = f"a workflow has a name of at most {_LONGEST_WORKFLOW} visible letters, in NFC"
        raise _wrong_field("workflow", said)


def _as_field(value: object) -> object:
    """A list as the frozen types take it; operations become the set they are."""
    if isinstance(value, list | tuple):
        return tuple(value)
    return value


def _require_covered(token: BaseToken, consent: Consent, need: ConsentNeed, now: Instant) -> None:
    """Raises unless the consent holds for the tool as it is now, and for all that the token is."""
    wanted = replace(need, surface=token.surface, arguments=consent.terms.arguments or ())
    lack = lack_of(consent, wanted, now)
    if lack is None:
        return
    why = lack.words
    if lack is Lack.NEVER_GIVEN:
        why = f"it is for the tool `{consent.terms.tool}`, and not for `{need.tool}`"
    if lack is Lack.SURFACE_GROWN:
        gains = token.surface.gains_over(consent.terms.surface)
        why = "; ".join(f"{gain.dimension.key}: {gain.reason}" for gain in gains)
    message = f"`{consent.consent_id}` is no ground for `{type(token).__name__}`: {why}"
    raise Refused(Code.MINT_REFUSED, message)


def _recorded(token: BaseToken, machine_id: str) -> Iterator[MintedToken]:
    """What is recorded of it: itself, and each of its parts."""
    yield _as_minted(token, machine_id, None)
    if isinstance(token, CapabilityBundle):
        for each in token.parts:
            yield _as_minted(each, machine_id, token.token_id)


def _as_minted(token: BaseToken, machine_id: str, part_of: str | None) -> MintedToken:
    return MintedToken(
        token_id=token.token_id,
        capability=type(token).__name__,
        workflow=token.workflow,
        workspace=token.workspace,
        tool=token.tool,
        machine_id=machine_id,
        consent_id=token.consent_id,
        grant_id=None,
        part_of=part_of,
        digest=token.digest,
        scope=token.scope,
        minted_at=token.minted_at,
        expires_at=token.expires_at,
    )


def _wrong_field(name: str, said: str) -> BadInput:
    return BadInput(Code.DECISION_FIELD, said, where=Where(field=name))


def _refused_fields(problem: ValidationError) -> BadInput:
    """The first thing that is wrong, in our words."""
    first = problem.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or None
    said = first["msg"].removeprefix("Value error, ")
    return BadInput(Code.DECISION_FIELD, said[:1].lower() + said[1:], where=Where(field=where))
