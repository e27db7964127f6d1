"""What an attempt tells of itself: the denial that it failed by, and what it did so far, in words.

On native the denial is one of the record, never a sentence that the code printed or raised: the one
whose resource the failing error names, else the last. A link is followed first, because what the
kernel would open is what lies behind it. Deno refuses by itself, so there the program's own error is
all there is, and whoever asks says so.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from consentry.base.values import replace
from consentry.decide.escalation import MOST_DENIALS
from consentry.enforce.engine import Ending
from consentry.enforce.native.snippets import SnippetError
from consentry.enforce.roots import is_own
from consentry.enforce.violations import Operation, PermissionDenied, Truth
from consentry.examine.denialtext import denials_in
from consentry.flow.tasks import is_permission_error
from consentry.service.runledger import Run
from consentry.service.runrecord import shown_path, word_text

MOST_OF_A_KIND: Final = 5
"""So many files, hosts or denials are named one by one; of more, how many there are."""

_QUOTED: Final = re.compile(r"'([^']+)'|\"([^\"]+)\"|`([^`]+)`")
_HALF_LETTER: Final = re.compile("[\ud800-\udfff]")
"""What JSON can say and no text can have."""
_OWN_WORD: Final = ", by its own word"
_FILES: Final = (Operation.READ, Operation.WRITE)
_BY_ITSELF: Final = (Ending.SUCCESS, Ending.FAILURE)


def denial_on_native(run: Run, error: SnippetError | None) -> str | None:
    """The record's own denial that a failed run is to be asked about; None where there is none."""
    if error is None or run.outcome.ending not in _BY_ITSELF:
        return None
    known = [each for each in run.facts.violations if each.truth is not Truth.REPORTED]
    if not known:
        return None
    folder = run.facts.bound.confinement.program.folder
    chosen = next(
        (each for each in reversed(known) if _is_named(each, error.message, folder)), known[-1]
    )
    if _was_answered(chosen, run):
        return None
    return word_text(str(_behind_links(chosen, run.facts.bound.confinement.workspace)))


def denial_of_deno(run: Run, error: SnippetError | None) -> str | None:
    """The program's error, where it speaks of a denial; its own word."""
    if error is None or run.outcome.ending not in _BY_ITSELF:
        return None
    text = _HALF_LETTER.sub("\ufffd", f"{error.type}: {error.message}")
    denials = list(islice(denials_in(text), MOST_DENIALS + 1))
    if not 0 < len(denials) <= MOST_DENIALS or not is_permission_error(text):
        return None
    confinement = run.facts.bound.confinement
    lines = [text]
    for each in denials:
        if each.operation not in _FILES or each.resource is None:
            continue
        path = os.path.normpath(confinement.program.folder / each.resource)
        real = _real(path, confinement.workspace)
        if real != path:
            lines.append(f'which leads there: Requires {each.operation} access to "{real}"')
    return word_text("\n".join(dict.fromkeys(lines)))


def _was_answered(denied: PermissionDenied, run: Run) -> bool:
    """Whether it waited for a person, who has said what is to be said of it."""
    return any(
        (each.held.operation, each.held.path_or_host) == (denied.operation, denied.resource)
        for each in run.outcome.held_operations
    )


def _is_named(denied: PermissionDenied, message: str, folder: Path) -> bool:
    if denied.operation not in _FILES:
        host = denied.resource.rpartition(":")[0] or denied.resource
        return denied.resource in message or host in message
    names = [next(filter(None, each.groups())) for each in _QUOTED.finditer(message)]
    return denied.resource in message or any(
        os.path.normpath(folder / name) == denied.resource for name in names if "\0" not in name
    )


def _behind_links(denied: PermissionDenied, workspace: Path) -> PermissionDenied:
    if denied.operation not in _FILES or not denied.resource.startswith("/"):
        return denied
    return replace(denied, resource=_real(denied.resource, workspace))


def _real(path: str, workspace: Path) -> str:
    """What the path leads to on the host; a folder of the run's own is none of the host's."""
    if is_own(Path(path)) and not Path(path).is_relative_to(workspace):
        return path
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL, or letters that no name on this host can have
        return path


def done_so_far(run: Run) -> tuple[str, ...]:
    """What it read, wrote and reached, and what it was refused; as the record has it, and few."""
    facts, outcome = run.facts, run.outcome
    workspace = facts.bound.confinement.workspace
    read = [shown_path(each, workspace) for each in outcome.reads if each not in facts.digests]
    wrote = [str(each["path"]) for each in facts.impact.written]
    deleted = [str(each["path"]) for each in facts.impact.deleted]
    reached = [f"{each.host}:{each.port}" for each in outcome.reached.places if each.is_allowed]
    refused = [
        f"{each.operation} {each.resource}{_OWN_WORD if each.truth is Truth.REPORTED else ''}"
        for each in facts.violations
    ]
    fate = "" if facts.impact.committed else ", which was discarded"
    lines = (
        *_few("read", read),
        *(f"{line}{fate}" for line in _few("wrote", wrote)),
        *(f"{line}{fate}" for line in _few("deleted", deleted)),
        *_few("reached", reached),
        *_few("was refused", refused),
    )
    return tuple(word_text(line).replace("\0", "\ufffd") for line in lines)


def _few(verb: str, things: Sequence[str]) -> Iterator[str]:
    for each in things[:MOST_OF_A_KIND]:
        yield f"{verb} {each}"
    if len(things) > MOST_OF_A_KIND:
        yield f"{verb} {len(things) - MOST_OF_A_KIND} more"
