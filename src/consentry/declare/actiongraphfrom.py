"""The action graph of a module that has none of its own: what its bindings amount to.

Each binding is an action that calls its one command. What the command changes, whether a person is asked
and what undoes it come from the host; the package gives the id, the label and the place. The order is that
of the bindings, which are part of the package's digest, so that the same package and host give the same
graph. Automation is never among the surfaces: a module that wants it says so in a graph of its own.

A binding to a command that the host no longer has stays an action, which then fails its check.
"""

from consentry.declare.actiongraph import ActionGraph, GraphAction, GraphSurface
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulevalues import CommandBinding, EntryType, ModulePackage, Slot, UiEntry


def graph_of(package: ModulePackage, host: HostDescription) -> ActionGraph:
    """The graph that the bindings of a package amount to, on this host."""
    entries = {each.entry_id: each for each in package.entries}
    return ActionGraph(
        package.module_id,
        tuple(_action(each, entries.get(each.ui_entry_id), host) for each in package.bindings),
    )


def _action(binding: CommandBinding, entry: UiEntry | None, host: HostDescription) -> GraphAction:
    label = binding.ui_entry_id if entry is None else entry.label or entry.entry_id
    command = host.command(binding.command_id)
    if command is None:
        return GraphAction(
            binding.binding_id, label, (binding.command_id,), surface=_surface(entry)
        )
    return GraphAction(
        binding.binding_id,
        label,
        (binding.command_id,),
        command.mutates,
        command.requires_approval or False,
        command.undo_command,
        _surface(entry),
    )


def _surface(entry: UiEntry | None) -> tuple[GraphSurface, ...]:
    """Where the entry is shown, and the palette, which every action is found in."""
    if entry is None:
        return (GraphSurface.COMMAND_PALETTE,)
    is_panel = entry.type is EntryType.PANEL or entry.slot is Slot.LEFT_PANEL
    place = GraphSurface.PANEL if is_panel else GraphSurface.TOOLBAR
    return (place, GraphSurface.COMMAND_PALETTE)
