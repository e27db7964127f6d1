"""The small paper with the reference tools: real programs at the four reference levels (CONSENT §level-reference).

The success criteria of CONSENT have a test each here, on the real tools; other tests take them apart.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import CommandLine, consentry, home, project
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import config_of, entries_of, events_of

__all__ = ["consentry", "home", "project"]  # fixtures that tests here ask for by name

REPOSITORY = Path(__file__).parents[2]
PAPER = REPOSITORY / "examples/paper"
TALL = (100, 70)
LEVELS = {
    "build-latex": "strict",
    "count-words": "explicit",
    "format-references": "explicit",
    "lint-latex": "explicit",
    "validate-structure": "implicit",
}


@pytest.fixture
def paper(consentry: CommandLine) -> CommandLine:
    """The command in the paper, with the paper's configuration as the user's own."""
    shutil.copytree(PAPER, consentry.cwd, dirs_exist_ok=True)
    shutil.copytree(PAPER / ".paper/_cfg", config_of(consentry))
    shutil.rmtree(consentry.cwd / ".paper")
    key = Path(consentry.environ["HOME"], ".ssh/id_ed25519")
    key.parent.mkdir(mode=0o700)
    key.write_text("not a real key\n")
    return consentry


def listed(paper: CommandLine) -> dict[str, Any]:
    """The tools that are known, by name."""
    document = json.loads(paper("tool", "list", "--json").out)
    return {each["name"]: each for each in document["tools"]}


def needs_latex() -> None:
    """Skips where the set-up could install nothing."""
    if shutil.which("pdflatex") is None or shutil.which("bibtex") is None:
        pytest.skip("pdflatex and bibtex are not installed, and `make test` may not install them")


def test_the_reference_tools_have_their_levels(paper: CommandLine) -> None:
    """CONSENT §level-reference: one implicit, two explicit, one strict, as the document has them."""
    assert {name: each["level"] for name, each in listed(paper).items()} == LEVELS


def test_all_tools_have_manifests(paper: CommandLine) -> None:
    """CONSENT SC-1: each tool of the index has one, and one without is an error that names it."""
    assert paper("tool", "lint").status == 0
    (config_of(paper) / "tools/lint-latex.yaml").unlink()
    ended = paper("run", "lint-latex")
    assert ended.status == 3
    assert "tool-manifest.yaml:3" in ended.err


def test_the_impact_is_shown_before_anything_runs(paper: CommandLine) -> None:
    """CONSENT SC-2: files, commands and limits are on the screen, and nothing has happened yet."""
    before = (paper.cwd / "latex/references/references.bib").read_text()
    with at_terminal(paper, "run", "format-references", size=TALL) as terminal:
        shown = terminal.see("\n> ")
        assert "latex/references/*.bib" in shown
        assert "python3 scripts/format_references.py" in shown
        assert (paper.cwd / "latex/references/references.bib").read_text() == before
        assert entries_of(paper) == []
        terminal.type("d\n")
        assert terminal.ended() == 126
    assert (paper.cwd / "latex/references/references.bib").read_text() == before


def test_consent_is_in_the_audit_log(paper: CommandLine) -> None:
    """CONSENT SC-3: who, when, by which method; the no as well as the yes."""
    for key in ("d", "a"):
        with at_terminal(paper, "run", "lint-latex", size=TALL) as terminal:
            terminal.answer("lint-latex", key)
            terminal.ended()
    denied, given = (each["user"] for each in entries_of(paper))
    assert (denied["consentGiven"], denied["consentTimestamp"]) == (False, None)
    assert (given["consentGiven"], given["consentMethod"]) == (True, "explicit_approval")
    assert given["consentTimestamp"]


def test_the_paper_is_built_in_a_sandbox_after_two_answers(paper: CommandLine) -> None:
    """CONSENT SC-4, §level-strict: real pdflatex and bibtex, one box, one record, committed by a second yes."""
    needs_latex()
    pdf = paper.cwd / "output-final/pdf/main.pdf"
    with at_terminal(paper, "run", "build-latex", size=(100, 500)) as terminal:
        terminal.answer("build-latex", "a")
        terminal.answer("why?", "to read it")
        terminal.answer("type build-latex", "build-latex")
        terminal.see("main.pdf")
        assert not pdf.exists()
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    assert pdf.read_bytes().startswith(b"%PDF")
    [entry] = entries_of(paper)
    assert entry["sandbox"]["profile"] == "latex-build"
    programs = {Path(each["path"]).name for each in entry["sandbox"]["programs"]}
    assert {"pdftex", "bibtex.original"} & programs or {"pdflatex", "bibtex"} & programs
    written = {each["path"] for each in entry["impact"]["filesWritten"]}
    assert "output-final/pdf/main.pdf" in written
    assert all(path.startswith("output-final/pdf/") for path in written)


def test_every_execution_is_captured(paper: CommandLine) -> None:
    """CONSENT SC-5: one that ran, one that failed, one that was refused."""
    assert paper("run", "validate-structure").status == 0
    (paper.cwd / "latex/sections/method.tex").unlink()
    assert paper("run", "validate-structure").status == 1
    assert paper("run", "validate-structure", "--", "word").status != 0
    assert [each["execution"]["status"] for each in entries_of(paper)] == [
        "success",
        "failure",
        "not_started",
    ]


def test_consent_is_revoked_and_asked_for_again(paper: CommandLine) -> None:
    """CONSENT SC-6: after `consent revoke` the next run is a question again, and says why."""
    program = " ".join(paper.program)
    script = (
        f"{program} run lint-latex; "
        f"{program} consent revoke $({program} consent list --quiet | head -1); "
        f"{program} run lint-latex"
    )
    with at_terminal(paper, "-c", script, program=["/bin/bash"], size=TALL) as terminal:
        terminal.answer("lint-latex", "r")
        terminal.answer("", "a")
        terminal.see("nothing to complain of")
        terminal.answer("was revoked", "d")
        assert terminal.ended() == 126
    kinds = [each["type"] for each in events_of(paper)]
    assert "consent.revoked" in kinds


def test_the_tool_that_wants_a_key_is_caught(paper: CommandLine) -> None:
    """CONSENT SC-7: it counts, and finds neither key nor network; both tries are on record."""
    with at_terminal(paper, "run", "count-words", size=TALL) as terminal:
        terminal.answer("count-words", "a")
        assert terminal.ended() == 0
    assert "159 words" in terminal.screen
    assert "read your key: it is not there" in terminal.screen
    [entry] = entries_of(paper)
    stopped = {(each["operation"], each["resource"]) for each in entry["sandbox"]["violations"]}
    assert ("net", "collector.invalid") in stopped


def test_the_demo_plays_by_itself(tmp_path: Path) -> None:
    """Without a terminal a policy of the demo's own stands for the yes, and it says so."""
    needs_latex()
    environ = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["/bin/bash", REPOSITORY / "examples/demo.sh"],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout
    assert "error[usage]" not in done.stdout
    assert "nobody can be asked" in done.stdout
    assert "read your key: it is not there" in done.stdout
    assert "asks to go from minimal to filesystem" in done.stdout
    assert "rejected (integrity_mismatch)" in done.stdout
    assert "(exit status 4)" in done.stdout
    assert "events verify, in 1 chain" in done.stdout
    assert list(tmp_path.iterdir()) == []
