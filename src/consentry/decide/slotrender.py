"""What a host gets to show in a slot: the entries a module declared, as plain data (`ui.slot.render`).

An entry is a name, a place, a kind, a label and perhaps the binding it calls; there is no field for
markup, script, style or an address, so whatever a package says, nothing of it can be one. A label is text
that a stranger wrote: a host that draws a page escapes it as it does any text, and one that draws on a
terminal takes `safe_label`.

Rules: only entries of that slot, in the order they were declared; of a label at most 200 letters; an entry
without an action has no binding, and one with an action has the binding that the package declared for it.
"""

from typing import Final

from consentry.base.canonical import Json
from consentry.base.safetext import SafeText, safe_line
from consentry.base.values import dataclass
from consentry.declare.modulevalues import EntryType, ModulePackage, Slot

MOST_LETTERS: Final = 200
_CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class RenderedEntry:
    """One entry as a host shows it; `label` is as it was declared, cut where it is too long."""

    module_id: str
    entry_id: str
    slot: Slot
    type: EntryType
    label: str | None
    binding_id: str | None

    @property
    def safe_label(self) -> SafeText:
        """What a terminal or a log may print: the label, or the entry's id where it has none."""
        return safe_line(self.entry_id if self.label is None else self.label, limit=MOST_LETTERS)

    def to_json(self) -> dict[str, Json]:
        """The fields as they go to a page; each there, and no other."""
        return {
            "moduleId": self.module_id,
            "entryId": self.entry_id,
            "slot": self.slot.value,
            "type": self.type.value,
            "label": self.label,
            "bindingId": self.binding_id,
        }


def rendered(package: ModulePackage, slot: Slot) -> tuple[RenderedEntry, ...]:
    """The entries that a module declared for one slot."""
    bindings = {each.ui_entry_id: each.binding_id for each in package.bindings}
    return tuple(
        RenderedEntry(
            package.module_id,
            entry.entry_id,
            entry.slot,
            entry.type,
            _shown(entry.label),
            None if entry.action is None else bindings.get(entry.entry_id),
        )
        for entry in package.entries
        if entry.slot is slot
    )


def _shown(label: str | None) -> str | None:
    if label is None or len(label) <= MOST_LETTERS:
        return label
    return label[: MOST_LETTERS - len(_CUT)] + _CUT
