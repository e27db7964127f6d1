"""What an action needs, from the commands it calls (CONTRACTS §2-derive).

Nothing that a module says of itself counts here: the commands are the host's, and so is what each takes.
Rules kept:

- every capability that a called command names is needed;
- a command whose changes last (`doc`, `sync`) needs `state.write.tx`, whether it names it or not;
- a call that no person made (automation, background) needs `automation.invoke` besides, never instead;
- a command that the host does not have needs what nobody knows, and is an error.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.declare.hostdescription import HostDescription
from consentry.declare.nodes import clipped

WRITES: Final = "state.write.tx"
INVOKES_UNASKED: Final = "automation.invoke"


def required_capabilities(
    action_calls: Sequence[str], host: HostDescription, *, is_automation: bool
) -> tuple[str, ...]:
    """The capabilities that these calls need together, sorted, each once.

    Args:
        action_calls: Command ids, in the order they are called.
        host: What has the commands.
        is_automation: Whether the call comes from automation or from the background.
    """
    needed = {INVOKES_UNASKED} if is_automation else set()
    for index, command_id in enumerate(action_calls):
        command = host.command(command_id)
        if command is None:
            raise BadInput(
                Code.DOCUMENT_INVALID,
                f"`{clipped(command_id)}` is not a command of the host",
                where=Where(field=f"calls[{index}]"),
                help_line="call a command that the host's description has",
            )
        needed.update(command.capabilities)
        if command.mutation_scope.is_lasting:
            needed.add(WRITES)
    return tuple(sorted(needed))
