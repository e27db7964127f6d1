"""Where the commands about effects work, and how they tell what they did."""

from consentry.base.clock import Instant, SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.output import Output
from consentry.cli.table import PROGRAM
from consentry.service.effectledger import Result
from consentry.service.keepsettings import keeping_of
from consentry.service.keptruns import Place
from consentry.service.ledgers import ledger_place
from consentry.service.recovering import recover_here
from consentry.service.rehearsals import Settled
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings


def effects_here(around: Surroundings) -> Place:
    """The ledger under the session of this terminal, with what was left unfinished dealt with."""
    keeping = keeping_of(around)
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    try:
        place = Place(journal, ledger_place(around).folder, keeping)
        recover_here(place)
    except BaseException:
        journal.ledger.close()
        raise
    return place


def tell_settled(output: Output, done: Settled) -> None:
    """What was done, and that it can be undone."""
    if output.json:
        body = {"run": done.run_id, "result": done.result.value, "files": done.files}
        undo = {"until": done.undo_until, "why_not": done.undo_why}
        output.document("settled", {**body, "undo": undo})
        return
    if output.quiet:
        return
    count = "1 file" if done.files == 1 else f"{done.files} files"
    output.text(f"{done.result.value}: {count}, {safe_line(done.run_id)}")
    if done.undo_until is not None:
        until = Instant.parse(done.undo_until).shown()
        output.text(f"  {PROGRAM} undo {safe_line(done.run_id)}  (until {until})")
    elif done.result is Result.COMMITTED and done.undo_why is not None:
        output.text(f"  it cannot be undone: {safe_line(done.undo_why)}")
