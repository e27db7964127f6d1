"""Budgets: what they take, and what is left of one."""

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.exitstatus import ExitStatus
from consentry.decide.budgets import Budget, BudgetLine, UseKind, exhausted
from consentry.record.eventfields import USE_KINDS


def test_a_budget_is_limits_by_kind() -> None:
    """TRUST §token-6: in one order, as an event has them."""
    budget = Budget.of({"npm_install": 3, "fs_write": 50})
    assert list(budget) == [(UseKind.FS_WRITE, 50), (UseKind.NPM_INSTALL, 3)]
    assert budget.to_json() == {"fs_write": 50, "npm_install": 3}
    assert (Budget.of(None).to_json(), bool(Budget())) == (None, False)
    assert tuple(UseKind) == USE_KINDS


@pytest.mark.parametrize(
    "given", [{"git_push": 1}, {"fs_write": -1}, {"fs_write": True}, {"fs_write": 1.5}]
)
def test_what_limits_nothing_is_refused(given: dict[str, int]) -> None:
    """A kind that there is not, or no number of times."""
    with pytest.raises(BadInput) as refusal:
        Budget.of(given)
    assert refusal.value.code is Code.DECISION_FIELD


@pytest.mark.parametrize(
    ("most", "uses", "left"), [(3, 1, 2), (3, 3, 0), (1, 3, 0), (None, 9, None)]
)
def test_what_is_left(most: int | None, uses: int, left: int | None) -> None:
    """Never less than nothing: a limit may have come after the uses."""
    assert BudgetLine("paper", UseKind.FS_WRITE, most, uses).left == left


def test_a_spent_budget_has_a_code_of_its_own() -> None:
    """TRUST §token-6; a command ends with 126."""
    refusal = exhausted("paper", UseKind.NPM_INSTALL, 3)
    assert refusal.code is Code.BUDGET_EXHAUSTED
    assert refusal.code.status is ExitStatus.DENIED
