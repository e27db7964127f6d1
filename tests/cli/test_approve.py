"""`consentry approve` and `deny` at a real terminal: what counts as an answer, and what never does."""

import json
import subprocess
import time
import unicodedata

import pytest

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.decide.consentask import AnswerRules
from consentry.decide.lasting import Lasts
from consentry.decide.question import Channel
from consentry.declare.consent import RememberDuration
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from consentry.service.configuration import load_configuration
from consentry.service.places import find_workspace
from consentry.service.surroundings import Surroundings
from consentry.store.acceptances import StoredAcceptances
from tests.cli.asking import consents_given, desk_of, put, request_of, status_of
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import put as put_file
from tests.cli.terminals import at_terminal
from tests.decide.previews import build_latex
from tests.decide.samples import ask

STRICT = ask(ConsentLevel.STRICT)
TALL = (200, 400)
BATCH = AnswerRules(RememberDuration.SESSION, allows_batch=True)


def test_a_yes_typed_at_the_terminal_gives_the_consent(consentry: CommandLine) -> None:
    """What is approved is shown with its digest, and bound to it; without a word it is for once."""
    request_id = put(consentry)
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        shown = terminal.see("a approve")
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    assert "build" in shown
    assert ask().digest[:20] in terminal.screen
    (consent,) = consents_given(consentry)
    assert (consent.terms.lasts, consent.terms.arguments) == (Lasts.ONCE, ("--fast", ""))
    assert consent.terms.method is ConsentMethod.EXPLICIT_APPROVAL
    answer = request_of(consentry, request_id).answer
    assert answer is not None
    assert answer.channel is Channel.COMMAND


def test_what_comes_through_a_pipe_is_no_answer(consentry: CommandLine) -> None:
    """The attack: a program types the command and pipes the yes. There is no terminal: refused."""
    request_id = put(consentry)
    for word in ("approve", "deny"):
        done = subprocess.run(
            [*consentry.program, word, request_id],
            cwd=consentry.cwd,
            env=consentry.environ,
            input=b"a\ny\nyes\napprove\n",
            capture_output=True,
            start_new_session=True,
            check=False,
        )
        assert done.returncode == 126
        assert b"error[terminal-missing]" in done.stderr
    assert status_of(consentry, request_id) == "pending"
    assert consents_given(consentry) == []


def test_a_pipe_beside_a_terminal_is_no_answer_either(consentry: CommandLine) -> None:
    """Standard input says yes; the person at the terminal says no, and that counts."""
    request_id = put(consentry)
    script = f"yes a | {' '.join(consentry.program)} approve {request_id}"
    with at_terminal(consentry, "-c", script, program=["/bin/sh"]) as terminal:
        terminal.answer("a approve", "d")
        assert terminal.ended() == 126, terminal.screen
    assert status_of(consentry, request_id) == "denied"


def test_what_was_typed_before_the_question_was_drawn_is_thrown_away(
    consentry: CommandLine,
) -> None:
    """Type-ahead: yes after yes while the command still starts; then the real answer is no."""
    request_id = put(consentry)
    with at_terminal(consentry, "approve", request_id) as terminal:
        for _ in range(5):
            terminal.type("a\n")
        terminal.see("a approve")
        terminal.see("\n> ")
        # Nothing of it answered: the question still stands, and takes the one that is typed now.
        assert status_of(consentry, request_id) == "pending"
        terminal.type("d\n")
        assert terminal.ended() == 126, terminal.screen
    assert status_of(consentry, request_id) == "denied"


@pytest.mark.parametrize("typed", ["", "x", "make all", "aa", "approve it"])
def test_only_whole_words_answer(consentry: CommandLine, typed: str) -> None:
    """Enter alone, a stray key or a line meant for a shell answer nothing."""
    request_id = put(consentry)
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.answer("a approve", typed)
        terminal.see("is no answer here")
        assert status_of(consentry, request_id) == "pending"
        terminal.answer("", "approve")
        assert terminal.ended() == 0, terminal.screen


def test_a_policy_that_changes_meanwhile_supersedes_the_question(consentry: CommandLine) -> None:
    """The prompt is open while the workspace's configuration becomes another one (CONTRACTS §8-policy-change)."""
    what = ask(workspace=str(consentry.cwd))
    request_id = put(consentry, what, policy=_policy_of(consentry))
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.see("\n> ")
        time.sleep(0.5)
        assert status_of(consentry, request_id) == "pending"
        document = "consentSystem:\n  version: 1.0.0\n  defaultPolicy: deny\n"
        put_file(consentry, ".consentry/consent-config.yaml", document)
        assert terminal.ended() == 126, terminal.screen
    assert "superseded" in terminal.screen
    assert status_of(consentry, request_id) == "superseded"


def _policy_of(line: CommandLine) -> Digest:
    with desk_of(line) as desk:
        around = Surroundings(line.environ, line.cwd, 0)
        journal = desk.journal
        kept = StoredAcceptances(journal.ledger, journal.ids, journal.clock, journal.context)
        workspace = find_workspace(around, str(line.cwd))
        return load_configuration(around, workspace, None, kept).policy_hash


def test_strict_needs_a_reason_and_the_typed_name(consentry: CommandLine) -> None:
    """CONSENT §level-strict: without either nothing is approved; a wrong name asks again."""
    request_id = put(consentry, STRICT)
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.answer("", "a")
        terminal.answer("why?", "   ")
        terminal.answer("why?", "the release")
        terminal.answer("type build to approve", "yes")
        terminal.see("that is not build; nothing was approved")
        assert status_of(consentry, request_id) == "pending"
        terminal.answer("", "a")
        terminal.answer("why?", "the release")
        terminal.answer("type build to approve", "build")
        assert terminal.ended() == 0, terminal.screen
    answer = request_of(consentry, request_id).answer
    assert answer is not None
    assert answer.reason == "the release"
    (consent,) = consents_given(consentry)
    assert consent.terms.method is ConsentMethod.STRICT_APPROVAL


def test_a_reason_on_the_line_is_not_asked_for_again(consentry: CommandLine) -> None:
    """The typed name still is."""
    request_id = put(consentry, STRICT)
    words = ("approve", request_id, "--reason", "from the line")
    with at_terminal(consentry, *words, size=TALL) as terminal:
        terminal.answer("", "a")
        terminal.answer("type build to approve", "build")
        assert terminal.ended() == 0, terminal.screen
    assert "why?" not in terminal.screen
    answer = request_of(consentry, request_id).answer
    assert answer is not None
    assert answer.reason == "from the line"


def test_hidden_characters_are_flagged_and_strict_refuses_them(consentry: CommandLine) -> None:
    """Nothing untrusted commands the terminal, at any level; at level strict there is no yes."""
    sly = "tidy\u200b up \x1b[2J\u202egpj"
    loose = put(consentry, ask(description=sly))
    with at_terminal(consentry, "approve", loose, size=TALL) as terminal:
        shown = terminal.see("d deny")
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "hidden characters: description has" in shown
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    strict = put(consentry, ask(ConsentLevel.STRICT, description=sly))
    with at_terminal(consentry, "approve", strict, size=TALL) as terminal:
        assert "a approve" not in terminal.see("d deny")
        terminal.answer("", "a")
        terminal.see("nothing is approved that hides characters")
        terminal.answer("", "d")
        assert terminal.ended() == 126, terminal.screen
    assert status_of(consentry, strict) == "denied"


def test_padding_is_paged_and_remembering_waits_for_the_end(consentry: CommandLine) -> None:
    """The attack: a description that pushes the rest off the screen.

    Each page fits, and what would be remembered can be agreed to only when the last one was seen.
    """
    padded = build_latex(description="harmless\n" * 200)
    request_id = put(consentry, ask(description=padded.description))
    with at_terminal(consentry, "approve", request_id, "--session") as terminal:
        first = terminal.see("(1 of ")
        assert first.count("\n") <= 24
        terminal.answer("", "a")
        terminal.see("see it to its end first")
        terminal.answer("", "r")
        terminal.see("see it to its end first")
        assert status_of(consentry, request_id) == "pending"
        while "r once only" not in terminal.see("\n> "):
            terminal.type("\n")
        terminal.type("a\n")
        assert terminal.ended() == 0, terminal.screen
    (consent,) = consents_given(consentry)
    assert consent.terms.lasts is Lasts.SESSION


@pytest.mark.parametrize(
    ("words", "lasts"),
    [
        (("--once",), Lasts.ONCE),
        (("--session",), Lasts.SESSION),
        (("--for", "1hour"), Lasts.UNTIL),
        (("--for", "1day"), Lasts.UNTIL),
        (("--permanent",), Lasts.PERMANENT),
    ],
)
def test_each_way_of_remembering(
    consentry: CommandLine, words: tuple[str, ...], lasts: Lasts
) -> None:
    """CONSENT §remember-1: as the line says, and the answer tells until when."""
    request_id = put(consentry)
    with at_terminal(consentry, "approve", request_id, *words, size=TALL) as terminal:
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    (consent,) = consents_given(consentry)
    assert consent.terms.lasts is lasts
    if consent.terms.expires_at is not None:
        assert consent.terms.expires_at.shown() in terminal.screen
        hours = consent.terms.expires_at.since(consent.given_at).milliseconds / 3_600_000
        assert round(hours) == (1 if "1hour" in words else 24)


def test_remembering_is_chosen_at_the_prompt_and_shown(consentry: CommandLine) -> None:
    """The box is empty at first; `r` fills and empties it again (CONSENT §prompt-5)."""
    request_id = put(consentry)
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.see("r remember for this session")
        for shown in ("r once only", "r remember", "r once only"):
            terminal.answer("", "r")
            terminal.see(shown)
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    (consent,) = consents_given(consentry)
    assert consent.terms.lasts is Lasts.SESSION


def test_where_nothing_is_remembered_it_is_neither_offered_nor_taken(
    consentry: CommandLine,
) -> None:
    """CONSENT §remember-3: `rememberChoices: false`."""
    request_id = put(consentry, ask(rules=AnswerRules(None)))
    with at_terminal(consentry, "approve", request_id, "--permanent") as terminal:
        assert terminal.ended() == 126, terminal.screen
    assert "error[answer-refused]" in terminal.screen
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        assert "remember for" not in terminal.see("\n> ")
        terminal.type("r\n")
        terminal.see("is no answer here")
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen


def test_a_batch_lists_every_item_and_answers_each_by_its_id(consentry: CommandLine) -> None:
    """CONSENT §remember-4: every id with its digest; the audit says that it was a batch."""
    ids = [put(consentry, ask(tool=f"tool-{n}", rules=BATCH)) for n in range(3)]
    with at_terminal(consentry, "approve", *ids, size=TALL) as terminal:
        shown = terminal.see("a approve")
        assert all(each in shown for each in ids)
        assert shown.count(ask().digest) == 3
        terminal.answer("", "a")
        terminal.answer("type approve to approve", "approve")
        assert terminal.ended() == 0, terminal.screen
    for number in range(3):
        (consent,) = consents_given(consentry, f"tool-{number}")
        assert consent.terms.method is ConsentMethod.BATCH_APPROVAL


@pytest.mark.parametrize(
    "odd", [ask(tool="odd"), ask(ConsentLevel.STRICT, tool="odd", rules=BATCH)]
)
def test_a_batch_is_refused_whole_where_one_item_may_not_be_in_it(
    consentry: CommandLine, odd: object
) -> None:
    """`allowBatchApproval` off, or level strict: nothing is answered."""
    ids = [put(consentry, ask(rules=BATCH)), put(consentry, odd)]  # type: ignore[arg-type]
    with at_terminal(consentry, "approve", *ids) as terminal:
        assert terminal.ended() == 126, terminal.screen
    assert "error[answer-refused]" in terminal.screen
    assert [status_of(consentry, each) for each in ids] == ["pending", "pending"]


def test_deny_takes_several_and_says_which_it_could_not(consentry: CommandLine) -> None:
    """Each is a decision of its own; JSON lists those that were made."""
    first, second = put(consentry), put(consentry)
    with at_terminal(consentry, "deny", first) as terminal:
        assert terminal.ended() == 0, terminal.screen
    with at_terminal(consentry, "deny", first, second, "--json", size=(200, 50)) as terminal:
        assert terminal.ended() == 126, terminal.screen
    document = json.loads(terminal.screen[terminal.screen.index("{") :])
    assert [each["request"]["requestId"] for each in document["answers"]] == [second]
    assert "request-settled" in terminal.screen


def test_unknown_and_shortened_ids(consentry: CommandLine) -> None:
    """The beginning of an id is enough while it is the only one."""
    request_id = put(consentry)
    with at_terminal(consentry, "deny", request_id.removeprefix("request-")[:13]) as terminal:
        assert terminal.ended() == 0, terminal.screen
    with at_terminal(consentry, "approve", "ffffffff-ffff") as terminal:
        assert terminal.ended() == 2, terminal.screen
    assert "error[id-unknown]" in terminal.screen
    assert consentry("approve").status == 2
    assert_error(consentry("approve", request_id, "--once", "--permanent"), Code.USAGE)


def test_confined_code_reaches_neither_inbox_nor_store(consentry: CommandLine) -> None:
    """The attack: the tool answers its own question from inside its box (CONTRACTS §9-requester).

    The state directory is not there, and there is no terminal; outside the same line works.
    """
    request_id = put(consentry)
    words = " ".join(consentry.program)
    script = f"{words} inbox --quiet; {words} approve {request_id}; ls {consentry.environ['HOME']}"
    inside = consentry("exec", "--exec", "any", "--", "sh", "-c", script)
    assert request_id not in inside.out
    assert status_of(consentry, request_id) == "pending"
    assert request_id in consentry("inbox", "--quiet").out


@pytest.mark.parametrize("size", [(40, 30), (48, 14), (80, 24), (300, 90)])
def test_no_page_is_larger_than_the_terminal(consentry: CommandLine, size: tuple[int, int]) -> None:
    """CONSENT §prompt-1: from the first line to the mark, on small and large screens, warnings too."""
    request_id = put(consentry, ask(ConsentLevel.STRICT, description="a\u200b " * 60))
    with at_terminal(consentry, "approve", request_id, size=size) as terminal:
        shown = terminal.see("\n> ").removesuffix("\n> ")
        pages = [shown]
        while "Enter goes on" in pages[-1]:
            terminal.type("\n")
            pages.append(terminal.see("\n> ").removesuffix("\n> "))
        terminal.type("d\n")
        assert terminal.ended() == 126, terminal.screen
    for page in pages:
        lines = page.removeprefix("\n").split("\n")
        rows = sum(max(1, -(-_columns(line) // size[0])) for line in lines)
        assert rows <= size[1], page


def _columns(line: str) -> int:
    """As a terminal draws it."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)
