"""What a prompt shows, cut into pages that fit the terminal, and what the person has chosen so far.

Nothing that matters is cut off: what does not fit one page is on the next, and a yes that is
remembered can be given only when the last page was seen.
"""

import json
from collections.abc import Iterable

from consentry.base.safetext import safe_block, safe_line
from consentry.base.values import dataclass
from consentry.cli.layout import laid_out
from consentry.decide.approval import ApprovalRequest
from consentry.declare.consent import RememberDuration


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """What the person may choose and has chosen; `remember` is None where nothing is remembered."""

    remember: RememberDuration | None = None
    is_remembered: bool = False
    shows_details: bool = False


@dataclass(frozen=True, slots=True)
class PromptPages:
    """At least one page of safe text; none has more lines than were asked for."""

    pages: tuple[str, ...]

    @classmethod
    def of_lines(cls, lines: Iterable[str], width: int, height: int) -> "PromptPages":
        """Lines of safe text in their order, as many to a page as fit; what is wider goes on below."""
        listed = [row for line in lines for row in laid_out(line, width=width)] or [""]
        return cls(
            tuple(
                "\n".join(listed[start : start + height]) for start in range(0, len(listed), height)
            )
        )


def plain_pages(request: ApprovalRequest, width: int, height: int) -> PromptPages:
    """Any request at all: its question, who asks, its digest, and what it carries, in a frame."""
    question = request.question
    lines: list[str] = [
        safe_line(question.text),
        f"asked by {safe_line(question.subject)}, {question.kind.value}",
        f"digest {question.digest or 'none'}",
    ]
    if question.preview is not None:
        text = json.dumps(question.preview, indent=1, ensure_ascii=False)
        lines += safe_block(text, origin=question.subject, width=width).split("\n")
    return PromptPages.of_lines(lines, width, height)
