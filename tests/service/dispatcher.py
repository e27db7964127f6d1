"""One of several processes that answer and dispatch the same requests: `python -m tests.service.dispatcher NAME`.

Reads a request's id and `approved` or `denied` from each line of standard input, answers it so, dispatches
it whoever answered, and prints as a line of JSON what came of both.
"""

import json
import os
import sys
from contextlib import closing

from consentry.base.errors import ConsentryError
from consentry.decide.identity import Identity, Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome
from consentry.service.approvals import Desk
from consentry.service.library import Library
from consentry.service.surroundings import look_around
from consentry.service.toolruns import ToolWish


def main(name: str) -> None:
    """See the top of this file."""
    around = look_around(os.environ)
    with closing(Library()) as library:
        journal = library.journal(around)
        who = Identity(f"local:1000:{name}@{journal.machine_id}")
        for line in sys.stdin:
            request, outcome = line.split()
            said: dict[str, str] = {}
            lasts = Lasts.ONCE if outcome == Outcome.APPROVED else None
            answer = Answer(Outcome(outcome), who, Role.OWNER, Channel.COMMAND, None, lasts)
            try:
                Desk(journal).answer(request, answer)
                said["answer"] = outcome
            except ConsentryError as problem:
                said |= {"answer": problem.code.value, "told": problem.message}
            try:
                library.run_request(request, around, ToolWish())
                said["run"] = "ran"
            except ConsentryError as problem:
                said["run"] = problem.code.value
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
