"""Four questions about one tool, asked of surfaces: may it run, what is missing, did it grow, where to.

Run it with `python examples/questions.py`. Nothing here starts the tool: it only compares powers.
"""

import json
import textwrap
from collections.abc import Callable

from consentry.base.errors import ConsentryError
from consentry.base.safetext import safe_line
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Pattern
from consentry.surface.permission_sets import PermissionSet, definition, least_sets_covering
from consentry.surface.protected import protected_roots
from consentry.surface.sentence import gain_in_words, in_words
from consentry.surface.wire import surface_digest, surface_to_json

BUILD_LATEX = Surface.of(
    read=["latex/**/*.tex", "latex/**/*.bib"],
    write=["output/*.pdf", "latex/*.aux"],
    run=["pdflatex", "bibtex"],
    env=["PATH", "TEXINPUTS"],
)
GRANTED = Surface.of(
    read=["latex/"],
    write=["output/", "latex/*.aux", "latex/*.log"],
    run=["pdflatex", "bibtex"],
    env=["PATH", "HOME", "TEXINPUTS"],
)


def may_it_run() -> None:
    """Covered: every path, program and name it needs is within what was granted."""
    print(f"  needs    it {in_words(BUILD_LATEX)}")
    print(f"  granted  it {in_words(GRANTED)}")
    print(f"  needed <= granted: {BUILD_LATEX <= GRANTED}")


def what_is_missing() -> None:
    """The next version phones home and reads a key: exactly those powers are named."""
    next_version = BUILD_LATEX | Surface.of(
        net=["collector.example:443"], read=["~/.ssh/id_ed25519"]
    )
    print(f"  needed <= granted: {next_version <= GRANTED}")
    for gain in next_version.gains_over(GRANTED):
        print(f"  it would also {gain_in_words(gain)}")


def what_nobody_may_grant() -> None:
    """A protected root is refused with the rule it falls under, whoever asks."""
    try:
        protected_roots().require_grantable(Pattern.parse("~/.ssh/id_ed25519"))
    except ConsentryError as refusal:
        print(f"  error[{refusal.code}]: {safe_line(str(refusal))}")
        print(f"  help: {safe_line(refusal.help_line)}")


def what_to_ask_for() -> None:
    """A denial leads one legal step up, to the narrowest set that helps."""
    for needed, words in (
        (Surface.of(read=["data/table.csv"]), "read data/table.csv"),
        (Surface.of(read=["src/main.py"]), "read src/main.py"),
        (Surface.of(net=["api.example.com:443"]), "reach api.example.com:443"),
        (Surface.of(run=["sh"]), "start sh"),
    ):
        sets = least_sets_covering(needed, PermissionSet.MINIMAL)
        answer = " or ".join(sets) if sets else "no set: refused, nobody is asked"
        print(f"  minimal was refused to {words:<26} -> {answer}")
    print(f"  mcp-standard: it {in_words(definition(PermissionSet.MCP_STANDARD).surface)}")


def as_bytes() -> None:
    """The document form and its digest: same powers, same bytes."""
    document = json.dumps(surface_to_json(BUILD_LATEX))
    print(textwrap.fill(document, 88, initial_indent="  ", subsequent_indent="   "))
    print(f"  {surface_digest(BUILD_LATEX)}")


QUESTIONS: dict[str, Callable[[], None]] = {
    "May build-latex run with what it was granted?": may_it_run,
    "Its next version wants more. What exactly?": what_is_missing,
    "Could somebody just say yes to the key?": what_nobody_may_grant,
    "Saved code was refused something. What should a person be asked for?": what_to_ask_for,
    "What would be stored?": as_bytes,
}


def main() -> None:
    """Asks all of them."""
    for question, answer in QUESTIONS.items():
        print(f"\n{question}")
        answer()


if __name__ == "__main__":
    main()
