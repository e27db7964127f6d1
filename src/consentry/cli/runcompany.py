"""Who is with a tool's run at a terminal: is asked there, and told what is announced or waits."""

from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.cli.output import Output, write_message
from consentry.cli.table import PROGRAM
from consentry.decide.approval import ApprovalRequest
from consentry.decide.preview import Preview
from consentry.decide.route import Route
from consentry.declare.preferences import ApprovalSettings
from consentry.service.approvals import Asker
from consentry.service.commitapproval import EffectAsker
from consentry.service.keptruns import Place
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from consentry.surface.sentence import in_words


@dataclass(frozen=True, slots=True)
class TerminalCompany:
    """The person at this terminal, where there is one."""

    journal: Journal
    around: Surroundings
    output: Output

    def asker(self, settings: ApprovalSettings) -> Asker | None:
        """The prompt of this terminal."""
        from consentry.cli.prompt import terminal_prompt  # noqa: PLC0415 - most runs ask nobody

        return terminal_prompt(self.around, self.journal, settings)

    def effect_asker(self, place: Place, settings: ApprovalSettings) -> EffectAsker | None:
        """The same prompt, with the effect."""
        from consentry.cli.terminalanswer import terminal_asker  # noqa: PLC0415 - as above

        return terminal_asker(place, self.around, settings)

    def announce(self, preview: Preview, route: Route) -> None:
        """One line before a run that nobody is asked about."""
        name = safe_line(f"{preview.tool} {preview.version}")
        write_message(
            f"{PROGRAM}: running {name}, level {route.level}: {in_words(preview.surface)}"
        )

    def tell_waiting(self, request: ApprovalRequest) -> None:
        """Where the question can be answered."""
        until = request.deadline.shown()
        write_message(
            f"{PROGRAM}: {safe_line(request.question.text)} waits for an answer until {until}\n"
            f"  {PROGRAM} approve {request.request_id}\n"
            f"  {PROGRAM} deny {request.request_id}"
        )
