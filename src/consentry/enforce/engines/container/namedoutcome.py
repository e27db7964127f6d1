"""What is told of a run in a container of a named image, from what the daemon and we saw of it.

What was used are samples by the daemon: a short run may show none. A limit on memory is told by the
daemon's own word that the kernel killed for want of it.
"""

import os
import signal
from collections.abc import Sequence

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.engine import Outcome, Usage
from consentry.enforce.engines.container.namedbox import OUT_OF_MEMORY
from consentry.enforce.engines.container.namedplan import HELD, NamedPlan
from consentry.enforce.native.ending import ending_of, held_limits
from consentry.enforce.native.supervisor import Supervised
from consentry.enforce.streams import Pipe
from consentry.enforce.usage import Control as Limited
from consentry.enforce.violations import Truth

_KIB = 1024
_BY_SIGNAL = {
    -signal.SIGXCPU: Limited.CPU,
    -signal.SIGXFSZ: Limited.FILE,
}


def require_started(supervised: Supervised, pipes: Sequence[Pipe]) -> None:
    """Raises where the container was made and could not be started."""
    problem = supervised.ended.problem
    if problem is None or supervised.timed_out or supervised.was_told_to_end or supervised.limit:
        return
    kept = [line for pipe in pipes for line in bytes(pipe.kept).splitlines() if line.strip()]
    said = problem[2] or (os.fsdecode(kept[-1]) if kept else "see what it printed")
    raise Refused(Code.ENGINE_FAILED, f"`docker` could not start the container: {said}")


def outcome_of(plan: NamedPlan, supervised: Supervised, pipes: Sequence[Pipe]) -> Outcome:
    """How it went; files read, programs and denials were seen by nobody."""
    ended = supervised.ended
    code, limit = ended.status, _limit(supervised)
    kept = [bytes(pipe.kept) for pipe in pipes if pipe.keeps] or [b"", b""]
    return Outcome(
        ending=ending_of(supervised, limit),
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        usage=Usage(ended.user_seconds, ended.peak_kib * _KIB, None, Truth.OBSERVED),
        reads=(),
        reads_truth=Truth.OBSERVED,
        runtime_reads={},
        programs=(),
        violations=(),
        complete=False,
        held=(*HELD, *plan.plan.grants.held, *held_limits(plan.limits)),
        stdout=kept[0],
        stderr=kept[-1],
        output_bytes=supervised.output_bytes,
        limit=limit,
        direct={} if plan.plan.direct is not None else None,
        sees_reads=False,
    )


def _limit(supervised: Supervised) -> str | None:
    if supervised.limit is not None or supervised.was_told_to_end or supervised.timed_out:
        return supervised.limit
    status = supervised.ended.status
    if status == -signal.SIGKILL and supervised.ended.notes.get(OUT_OF_MEMORY):
        return Limited.MEMORY.value
    by_signal = None if status is None else _BY_SIGNAL.get(status)
    return None if by_signal is None else by_signal.value
