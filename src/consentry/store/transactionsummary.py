"""How much a transaction changes, without reading what: for lists of many.

The counts stand at the end of the canonical text of a preview, so that only its end is read, however long it
is. They are as they are written and are held against no hash; whoever decides about a change looks at the
preview itself, which is.
"""

import re
from collections.abc import Mapping
from typing import Final

from consentry.decide.statechange import Op
from consentry.decide.txattempt import Attempt
from consentry.store.journal import Journal

_LONGEST: Final = 600
_END: Final = (
    f"SELECT substr(preview, length(preview) - {_LONGEST - 1}) FROM transaction_content "  # noqa: S608 - a number
    "WHERE tx_id = ? AND attempt_no = ? AND preview IS NOT NULL"
)
_SUMMARY: Final = re.compile(
    r'"summary":\{"add":(?P<add>\d+),"move":(?P<move>\d+),"remove":(?P<remove>\d+),'
    r'"replace":(?P<replace>\d+)\},'
    r'"track":"[a-z]+","txId":"[^"]*"\}$'
)


def summary_of(journal: Journal, attempt: Attempt) -> Mapping[str, int] | None:
    """How many operations of each kind; None where there is no preview."""
    with journal.database.reading() as view:
        for (end,) in view.rows(_END, (attempt.tx_id, attempt.attempt_no)):
            found = _SUMMARY.search(str(end))
            if found is not None:
                return {op.value: int(found[op.value]) for op in Op}
    return None
