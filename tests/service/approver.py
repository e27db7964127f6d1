"""One of two approvers who answer the same questions at the same moment, as a process of its own.

python -m tests.service.approver PLACE ACCOUNT    reads `ID` lines, answers each yes for once under that
account, tries to carry the approval out, and prints what came of it as one line of JSON
"""

import json
import sys
from typing import Any

from consentry.base.clock import SystemClock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.decide.identity import Role, web_identity
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome
from consentry.record.envelope import Context
from consentry.service.approvals import Desk
from consentry.service.consenting import consent_for, consents_of
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from tests.record.samples import WRITER
from tests.store.keepers import open_place


def answered(desk: Desk, account: str, request_id: str) -> dict[str, Any]:
    """Whether this answer won, what the loser was told, and whether the run was started here."""
    by = web_identity(account)
    yes = Answer(Outcome.APPROVED, by, Role.APPROVER, Channel.INBOX, lasts=Lasts.ONCE)
    told: dict[str, Any] = {
        "account": account,
        "won": True,
        "told": None,
        "code": None,
        "ran": False,
    }
    try:
        request = desk.answer(request_id, yes)
    except ConsentryError as problem:
        told |= {"won": False, "told": problem.message, "code": problem.code.value}
        request = desk.look(request_id)
    try:
        consents_of(desk.journal).use(consent_for(desk.journal, request).consent_id)
        told["ran"] = True
    except ConsentryError as problem:
        told["run_refused"] = problem.code.value
    return told


def main(place: str, account: str) -> None:
    """Answers every id that comes."""
    database, clock = open_place(place), SystemClock()
    context = Context(web_identity(account), WRITER)
    desk = Desk(Journal(Ledger(database, WRITER), Uuid7Ids(clock), clock, context))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answered(desk, account, line.strip())) + "\n")
        sys.stdout.flush()
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
