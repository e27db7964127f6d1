"""A run of controlled fixtures, and the tags that every event it causes carries (CONTRACTS §4-tags).

Sign-off counts what fixtures cause apart from real use, so nothing that a fixture does may look like real
use. Whoever carries out a case does it under a context that was marked here: the session it opens, the
questions, their answers and the end of the session then say which run, which case and what was expected.
What somebody else is found to have left behind is ended under no mark: it is no part of the case.
"""

from typing import Final

from consentry.base.ids import IdSource
from consentry.base.values import dataclass, replace
from consentry.record.envelope import Context, marked_as_fixture

DRILL_PREFIX: Final = "drill"


@dataclass(frozen=True, slots=True)
class FixtureCase:
    """One case of one run, as its events name it."""

    run_id: str
    case_id: str
    expected: str

    def marked(self, context: Context) -> Context:
        """The same context, as an event of this case carries it."""
        marked = marked_as_fixture(context, self.run_id, self.case_id, self.expected)
        return replace(marked, drill_id=self.run_id)


def new_drill_id(ids: IdSource) -> str:
    """What names one drill: its run of fixtures has the same id."""
    return ids.new(DRILL_PREFIX)
