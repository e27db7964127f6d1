"""What `consentry plugins verify` says about evidence: whether each plugin has what the policy asks for.

Only looked at, never remembered: that a plugin passed here does not raise what is remembered of it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from consentry.base.clock import SystemClock
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.cli.hanging import LONGEST, hanging
from consentry.cli.output import Output
from consentry.examine.pluginproblems import VerificationError
from consentry.service.surroundings import Surroundings

if TYPE_CHECKING:
    from consentry.service.pluginsigning import SigningGround


@dataclass(frozen=True, slots=True)
class EvidenceState:
    """How one plugin stands; neither signers nor a problem means that nothing is asked for."""

    plugin: str
    kinds: tuple[str, ...] = ()
    signers: tuple[str, ...] = ()
    signed_at: str | None = None
    problem: VerificationError | None = None


def evidence_of(
    around: Surroundings, root: Path, plugins: Sequence[str]
) -> tuple[EvidenceState, ...]:
    """The evidence of these plugins, which are as their lock says."""
    from consentry.service.pluginsigning import ground_for_looking  # noqa: PLC0415 - slow to load

    with ground_for_looking(around, SystemClock()) as ground:
        return tuple(_state(root, each, ground) for each in plugins)


def _state(root: Path, plugin: str, ground: "SigningGround") -> EvidenceState:
    from consentry.examine.plugintree import read_tree  # noqa: PLC0415 - slow to load
    from consentry.service.pluginlocking import manifest_of  # noqa: PLC0415 - as above
    from consentry.service.pluginsigning import (  # noqa: PLC0415 - as above
        check_evidence,
        is_evidence_asked,
    )

    try:
        if not is_evidence_asked(plugin, root, ground):
            return EvidenceState(plugin)
        tree = read_tree(root / plugin, keep_contents=True)
        accepted = check_evidence(tree, manifest_of(tree).version, root, ground)
    except VerificationError as problem:
        return EvidenceState(plugin, problem=problem)
    if accepted is None:
        return EvidenceState(plugin)
    signed_at = None if accepted.signed_at is None else str(accepted.signed_at)
    return EvidenceState(plugin, tuple(accepted.kinds), accepted.signers, signed_at)


def evidence_rows(output: Output, states: Sequence[EvidenceState]) -> Iterator[str]:
    """For a person: what is missing, and unless asked to be quiet, who signed."""
    asked = [each for each in states if each.signers or each.problem is not None]
    widest = max((len(each.plugin) for each in asked), default=0)
    for each in asked:
        name = f"{safe_line(each.plugin):<{widest}}"
        if each.problem is not None:
            start = f"{output.paint('refused ', 'red')}  {name}  "
            said = f"{each.problem.reason}: {each.problem.message}"
        elif output.quiet:
            continue
        else:
            start = f"{output.paint('signed  ', 'green')}  {name}  "
            said = f"by {', '.join(each.signers)} ({', '.join(each.kinds)})"
        yield from hanging(start, safe_line(said, limit=LONGEST), width_of_start=widest + 12)
    if not output.quiet and states:
        bad = sum(each.problem is not None for each in states)
        good = len(asked) - bad
        if asked:
            yield f"evidence: {good} of {len(asked)} plugins have what your policy asks for"
        else:
            yield "evidence: your policy asks for none (integrity check only)"


def evidence_document(states: Sequence[EvidenceState]) -> list[dict[str, object]]:
    """The same for a script."""
    return [
        {
            "plugin": each.plugin,
            "asked": bool(each.signers or each.problem),
            "formats": list(each.kinds),
            "signers": list(each.signers),
            "signed_at": each.signed_at,
            "reason": None if each.problem is None else each.problem.reason,
            "message": None if each.problem is None else each.problem.message,
            "help": None if each.problem is None else each.problem.help_line,
        }
        for each in states
    ]
