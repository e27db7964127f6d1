"""May this change land? The seven rules of the guard, in their order; the first that applies answers.

    1  the change is not wholly known                                    UNKNOWN
    2  offline, and it reaches the network afterwards                    BLOCKED
    3  a protected root, or loading code beyond what a wish can allow    BLOCKED
    4  powers were gained, and no wish says anything                     BLOCKED, not strict: UNKNOWN
    5  a power was gained that the wish does not allow                   BLOCKED
    6  something is new that cannot be told                              UNKNOWN
    7                                                                    PASS

Nothing is inferred: what the wish does not say is not allowed. The verdict lists every reason there is,
not only those of the rule that answered. It verifies itself on three rungs, from its own document.
"""

from collections.abc import Iterator
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.values import dataclass
from consentry.declare.wish import AllowedCapabilities, Wish
from consentry.examine.allowance import (
    field_of,
    loading_steps,
    protected_steps,
    refused_steps,
)
from consentry.examine.delta import Delta, Step, delta_between
from consentry.examine.recipes import UnknownNode
from consentry.examine.sides import Side
from consentry.examine.verdict import (
    DELTA_REPORT,
    EXTRACTION,
    Band,
    Check,
    Reason,
    Rung,
    Status,
    Tag,
    Verdict,
    delta_digest,
    transcript_digest,
    witness,
)
from consentry.surface.dimensions import Dimension, Level
from consentry.surface.protected import protected_roots

SANITY: Final = "641"
CONSISTENCY: Final = "274177"
SEAL: Final = "65537"


@dataclass(frozen=True, slots=True)
class Flags:
    """How strictly to judge."""

    offline: bool = False
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Examined:
    """A change as extraction left it; `incomplete` says why it is not wholly known."""

    before: Side
    after: Side
    unknown_nodes: tuple[UnknownNode, ...] = ()
    incomplete: str | None = None


def judge(
    examined: Examined, wish: Wish | None, flags: Flags, tables: tuple[str, Digest]
) -> Verdict:
    """The verdict; `tables` is the address and the digest of what extraction knew."""
    delta = delta_between(examined.before, examined.after)
    allowed = None if wish is None else wish.allowed
    problems = _Problems(examined, delta, allowed, flags)
    status = problems.status()
    roots = protected_roots()
    witnesses = (
        witness(EXTRACTION, transcript_digest(examined.before, examined.after)),
        witness(DELTA_REPORT, delta_digest(delta)),
        witness(roots.identity, roots.digest),
        witness(*tables),
    )
    verdict = Verdict(
        status=status,
        band=_band(status, delta),
        delta=delta,
        reasons=tuple(dict.fromkeys(problems.reasons())),
        missing_fields=_missing_fields(delta, allowed),
        witnesses=witnesses,
        rungs=(),
    )
    return _verified(verdict, examined, problems)


class _Problems:
    """Everything that speaks against a change, rule by rule."""

    def __init__(
        self, examined: Examined, delta: Delta, allowed: AllowedCapabilities | None, flags: Flags
    ) -> None:
        self.incomplete = examined.incomplete
        self.flags = flags
        self.delta = delta
        self.allowed = allowed
        self.reaches_out = flags.offline and delta.after.net_access.level is not Level.NONE
        self.protected = protected_steps(delta, allowed)
        self.loading = loading_steps(delta, allowed)
        self.nodes = examined.unknown_nodes
        self.refused: tuple[Step, ...] = (
            delta.gained if allowed is None else refused_steps(delta, allowed)
        )

    def status(self) -> Status:
        """The answer of the first rule that applies."""
        if self.incomplete is not None:
            return Status.UNKNOWN
        if self.reaches_out or self.protected or self.loading:
            return Status.BLOCKED
        if self.allowed is None and self.delta.gained:
            return Status.BLOCKED if self.flags.strict else Status.UNKNOWN
        if self.refused or self.nodes:
            return Status.BLOCKED
        return Status.UNKNOWN if self.delta.doubts else Status.PASS

    def reasons(self) -> Iterator[Reason]:
        """All of them, in the order of the rules."""
        if self.incomplete is not None:
            yield Reason(Tag.INSUFFICIENT.value, self.incomplete)
        if self.reaches_out:
            detail = f"offline, and NET_ACCESS is {self.delta.after.net_access.level.value}"
            yield Reason(_escalation(Dimension.NET_ACCESS), detail)
        for step in self.protected:
            yield Reason(Tag.PROTECTED.value, f"{_placed(step)} is under a protected root")
        for step in self.loading:
            yield Reason(Tag.LOADING.value, f"{_placed(step)} loads code ({step.atom.target})")
        for step in self.refused:
            detail = f"{step.atom.dimension.value} escalated without allowance: {_placed(step)}"
            yield Reason(_escalation(step.atom.dimension), detail)
        for node in self.nodes:
            yield Reason(_escalation(Dimension.TOOL_CLASSES), node.detail)
        for doubt in self.delta.doubts:
            detail = f"{doubt.file}:{doubt.about.line}: {doubt.about.reason}"
            yield Reason(Tag.INSUFFICIENT.value, detail)


def _escalation(dimension: Dimension) -> str:
    return f"{Tag.ESCALATION.value}:{dimension.value}"


def _placed(step: Step) -> str:
    return f"{step.reason} ({step.file}:{step.line})"


def _band(status: Status, delta: Delta) -> Band:
    if status is Status.BLOCKED:
        return Band.RED
    return Band.GREEN if status is Status.PASS and not delta.gained else Band.YELLOW


def _missing_fields(delta: Delta, allowed: AllowedCapabilities | None) -> tuple[str, ...]:
    """The fields of the wish that would have to speak of what was gained, and are not there."""
    said = frozenset[str]() if allowed is None else allowed.said
    dimensions = dict.fromkeys(step.atom.dimension for step in delta.gained)
    return tuple(field_of(each) for each in dimensions if each.key not in said)


def _verified(verdict: Verdict, examined: Examined, problems: _Problems) -> Verdict:
    """The verdict with its rungs; a PASS that does not hold on all of them is none."""
    rungs = (
        Rung(
            SANITY,
            (
                Check("surface_extracted", examined.incomplete is None),
                Check("delta_deterministic", _is_repeatable(verdict.delta, examined)),
            ),
        ),
        Rung(
            CONSISTENCY,
            (
                Check("mode_flags_enforced", _blocks(verdict, problems.reaches_out)),
                Check("protected_roots_enforced", _blocks(verdict, bool(problems.protected))),
            ),
        ),
        Rung(
            SEAL,
            (
                Check("pass_only_if_allowed", _is_earned(verdict, problems)),
                Check("no_implicit_allowance", _is_explicit(verdict, problems)),
            ),
        ),
    )
    status, band = verdict.status, verdict.band
    if status is Status.PASS and not all(rung.ok for rung in rungs):
        status, band = Status.UNKNOWN, Band.YELLOW
    return Verdict(
        status,
        band,
        verdict.delta,
        verdict.reasons,
        verdict.missing_fields,
        verdict.witnesses,
        rungs,
    )


def _is_repeatable(delta: Delta, examined: Examined) -> bool:
    """Whether the same delta comes out when everything is put together in the opposite order."""
    turned = [
        Side(side.found[::-1], side.doubts[::-1], side.files)
        for side in (examined.before, examined.after)
    ]
    again = delta_between(*turned)
    same_steps = {step.atom for step in again.gained} == {step.atom for step in delta.gained}
    return same_steps and again.before == delta.before and again.after == delta.after


def _blocks(verdict: Verdict, found: bool) -> bool:  # noqa: FBT001 - what a rule found
    return not found or verdict.status is not Status.PASS


def _is_earned(verdict: Verdict, problems: _Problems) -> bool:
    """A PASS has an extraction behind it, and nothing gained that was not allowed."""
    if verdict.status is not Status.PASS:
        return True
    has_witness = any(each.startswith(f"{EXTRACTION}#sha256:") for each in verdict.witnesses)
    return has_witness and not problems.refused and not verdict.delta.doubts


def _is_explicit(verdict: Verdict, problems: _Problems) -> bool:
    """A PASS with something gained rests on a field of the wish for each dimension."""
    if verdict.status is not Status.PASS or not verdict.delta.gained:
        return True
    allowed = problems.allowed
    return allowed is not None and all(
        step.atom.dimension.key in allowed.said for step in verdict.delta.gained
    )
