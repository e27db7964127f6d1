"""Which approval an action takes in the end: the strictest of what it says and what its commands say.

A command's approval is the host's and a module cannot lower it (CONTRACTS §1-handlers); an action can only
ask for more. Rules kept:

- `hard` is stricter than `soft`, and `soft` than nothing. `true` gives no level, and is read as `hard`:
  only who says `soft` lets a yes be remembered.
- Whoever names an approver is stricter than who does not. The owner has every role, so `owner` is the
  strictest name; of two other names neither is, and a graph where they meet does not pass its check.
- The reason is that of the strictest, a command's before the action's own: the one is the host's word, the
  other a stranger's, and of two that are as strict the host's is shown.
"""

from collections.abc import Iterable
from typing import Final

from consentry.declare.actiongraph import Approval, GraphAction
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostDescription,
)

OWNER: Final = "owner"
UNSAID_REASON: Final = "the action asks for approval and does not say why"


def approval_of(action: GraphAction, host: HostDescription) -> ApprovalRule | None:
    """What is asked before an action of a checked graph runs; None where nobody is asked."""
    own = stated_rule(action.requires_approval)
    rules = [each.requires_approval for each in called(action, host) if each.requires_approval]
    rules += [own] if own is not None else []
    if not rules:
        return None
    strictest = next((each for each in rules if each.level is ApprovalLevel.HARD), rules[0])
    return ApprovalRule(strictest.reason, strictest.level, _approver(rules))


def stated_rule(approval: Approval) -> ApprovalRule | None:
    """What `requiresApproval` means: a rule as it is, `true` as a hard one, `false` as none."""
    if isinstance(approval, ApprovalRule):
        return approval
    return ApprovalRule(UNSAID_REASON, ApprovalLevel.HARD) if approval else None


def called(action: GraphAction, host: HostDescription) -> tuple[CommandDeclaration, ...]:
    """The commands that an action calls and the host has, in order, each once."""
    found = (host.command(each) for each in dict.fromkeys(action.calls))
    return tuple(each for each in found if each is not None)


def _approver(rules: Iterable[ApprovalRule]) -> str | None:
    names = [each.approver for each in rules if each.approver is not None]
    if OWNER in names:
        return OWNER
    return names[0] if names else None
