"""What the record of a run says of operations that waited for a person's answer.

Everything here was done by us on the program's behalf, or refused to it: it is `mediated`. A file that
was written by such an answer and not through the layer reached the host at once; it is listed with the
files that the run wrote, as `direct`, whatever became of the layer.

Of a run whose process was killed the requests are all there is: what was answered is known, and whether a
yes was still carried out is not, so such an entry is `observed`.
"""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from consentry.base.canonical import Json
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.heldask import HeldAsk
from consentry.decide.question import Outcome, RequestKind
from consentry.enforce.egress.report import Reach
from consentry.enforce.held import HeldAnswer, HeldRecord, Operation
from consentry.enforce.violations import Truth
from consentry.service.readhashes import ReadHashes

DIRECT: Final = "direct"
"""How a file was held that reached the host at once, by a person's answer."""

_ANSWERS: Final = {
    Outcome.APPROVED: HeldAnswer.GRANTED,
    Outcome.DENIED: HeldAnswer.REFUSED,
    Outcome.EXPIRED: HeldAnswer.EXPIRED,
    Outcome.SUPERSEDED: HeldAnswer.GONE,
}


def held_entries(records: Iterable[HeldRecord], shown: Callable[[str], str]) -> list[Json]:
    """Each of them, and how it was answered; `shown` spells a path as the record does."""
    return [_entry(each, shown) for each in records]


def _entry(record: HeldRecord, shown: Callable[[str], str]) -> dict[str, Json]:
    held = record.held
    is_net = held.operation is Operation.NET
    return {
        "operation": held.operation.value,
        "resource": held.path_or_host if is_net else shown(held.path_or_host),
        "verb": held.verb.value,
        "creates": held.creates,
        "alsoReads": held.also_reads,
        "throughLayer": held.through_layer,
        "program": None if held.program is None else shown(held.program),
        "answer": record.answer.value,
        "requestId": record.request_id,
        "direct": record.direct,
        "times": record.times,
        "waited": Duration(round(record.seconds * 1000)).in_seconds(),
        "error": record.error,
        "truth": Truth.MEDIATED.value,
    }


def lost_entries(requests: Iterable[ApprovalRequest], run: str) -> list[Json]:
    """The same of a run that was killed, by what it had asked; `run` is its decision."""
    asked = [each for each in requests if each.question.kind is RequestKind.HOLD]
    return [
        _lost(each, ask)
        for each, ask in ((each, HeldAsk.of(each)) for each in asked)
        if ask.run == run
    ]


def _lost(request: ApprovalRequest, ask: HeldAsk) -> dict[str, Json]:
    answer = HeldAnswer.GONE if request.answer is None else _ANSWERS[request.answer.outcome]
    is_granted = answer is HeldAnswer.GRANTED
    until = request.answered_at or request.requested_at
    return {
        "operation": ask.operation.value,
        "resource": ask.resource,
        "verb": ask.verb,
        "creates": ask.creates,
        "alsoReads": ask.also_reads,
        "throughLayer": ask.through_layer,
        "program": ask.program,
        "answer": answer.value,
        "requestId": request.request_id,
        "direct": is_granted and ask.direct,
        "times": 1,
        "waited": until.since(request.requested_at).in_seconds(),
        "error": None,
        "truth": (Truth.OBSERVED if is_granted else Truth.MEDIATED).value,
    }


def written_by_answers(
    records: Iterable[HeldRecord], shown: Callable[[str], str], hashes: ReadHashes
) -> list[dict[str, Json]]:
    """The files that reached the host at once, as they are now."""
    written: dict[str, dict[str, Json]] = {}
    for each in records:
        path = each.held.path_or_host
        found = _look(path) if each.direct and each.error is None else None
        if found is not None and stat.S_ISREG(found.st_mode):
            is_new = each.held.creates or written.get(path, {}).get("change") == "created"
            written[path] = {
                "path": shown(path),
                "hash": hashes.digest_of(path),
                "size": found.st_size,
                "change": "created" if is_new else "modified",
                "held": DIRECT,
                "truth": Truth.MEDIATED.value,
            }
    return list(written.values())


def request_for(reach: Reach, records: Sequence[HeldRecord]) -> str | None:
    """The request by whose answer a place was reached; None where it was granted before."""
    if not reach.is_held:
        return None
    return next(
        (
            each.request_id
            for each in records
            if each.held.operation is Operation.NET and each.held.path_or_host == reach.rule
        ),
        None,
    )


def _look(path: str) -> os.stat_result | None:
    try:
        return Path(path).lstat()
    except OSError:
        return None
