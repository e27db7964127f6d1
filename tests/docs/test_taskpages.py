"""What library.md says of tasks is what there is: arguments, methods, and fields of a task."""

import inspect
import re

import consentry
from consentry.flow import tasks
from tests.docs.blocks import DOCS
from tests.docs.tables import code_spans, table_with_head

PAGE = DOCS / "reference/library.md"


def documented(head: str) -> set[str]:
    """The names in the first column of a table, without what is in brackets."""
    cells = [each for row in table_with_head(PAGE, head) for each in code_spans(row[0])]
    return {re.sub(r"\(.*\)$", "", each) for each in cells}


def test_every_argument_of_the_executor_is_documented() -> None:
    """And no other."""
    arguments = set(inspect.signature(consentry.ControlledExecutor).parameters)
    assert documented("argument of `ControlledExecutor`") == arguments


def test_every_method_of_the_executor_is_documented() -> None:
    """And every name that is documented is there."""
    methods = {
        name
        for name, _ in inspect.getmembers(consentry.ControlledExecutor)
        if not name.startswith("_")
    }
    own = {"commands", "workflow_id"}  # set when one is made
    assert documented("method of `ControlledExecutor`") == methods | own


def test_every_field_of_a_task_is_documented() -> None:
    """As its JSON form has them; those of its sandbox stand beside it."""
    assert documented("field of a task") == set(tasks._KEYS)
    beside = " ".join(row[1] for row in table_with_head(PAGE, "field of a task"))
    assert set(tasks._SANDBOX_KEYS) <= set(code_spans(beside))
