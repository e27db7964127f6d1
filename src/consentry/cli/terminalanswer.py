"""Asks the person at the terminal whether a run may be committed, with its effect in sight."""

from consentry.base.values import replace
from consentry.cli.effecttext import effect_lines
from consentry.cli.output import Output
from consentry.cli.prompt import lines_sheet, terminal_prompt
from consentry.cli.table import PROGRAM
from consentry.declare.preferences import ApprovalSettings
from consentry.service.approvals import Asker
from consentry.service.commitapproval import EffectAsker
from consentry.service.effects import EffectView
from consentry.service.keptruns import Place
from consentry.service.surroundings import Surroundings

_MOST_LINES = 2_000


def terminal_asker(place: Place, around: Surroundings, settings: ApprovalSettings) -> EffectAsker:
    """Who asks here: the prompt of this terminal, where there is one."""

    def asker(view: EffectView) -> Asker | None:
        prompt = terminal_prompt(around, place.journal, settings)
        if prompt is None:
            return None
        sheet = lines_sheet(effect_sheet(view))
        return replace(prompt, sheet_of=lambda _: sheet, comes_after_run=True)

    return asker


def effect_sheet(view: EffectView) -> list[str]:
    """The effect as lines of a prompt: with what differs, or in short where that is too long."""
    plain = Output(color="never")
    lines = list(effect_lines(plain, view, in_short=False))
    if len(lines) > _MOST_LINES:
        short = f"the lines that differ are too many for here: {PROGRAM} effect {view.run_id}"
        lines = [*effect_lines(plain, view, in_short=True), short]
    return [*lines, "", "commit exactly this?"]
