"""The parts of the page about transactions: what waits with its preview, what has to be recovered, what was done.

The board's facts come first and a module's words stand in a quotation, as with every question. A preview is
shown whole; one that is too long for the page can be approved at a terminal, and is not approved here.
"""

from collections.abc import Sequence

from consentry.modules import Attempt, HostDescription, TransactionState
from examples.noteboard.changes import SAYS, Change, Changes, named, why_not
from examples.noteboard.difference import MINUS, OTHER, PLUS, Line, counted, lines_of
from examples.noteboard.markup import Markup, element, seen_whole
from examples.noteboard.questions import button, form, hidden

MOST_LINES = 800
MOST_TEXT = 3000
MOST_PLACE = 300
MOST_SHOWN = 10
TOO_LONG = "This is too long to be shown whole here, so it is not approved here; consentry tx show has it all."
_S = TransactionState
_LOOKS = {PLUS: "add", MINUS: "remove", OTHER: "other"}
_STANDS = {
    _S.APPLIED: "good",
    _S.APPROVAL_PENDING: "wait",
    _S.APPROVED: "wait",
    _S.FAILED_TERMINAL: "bad",
    _S.FAILED_PRE_APPLY: "bad",
    _S.RECOVERY_PENDING: "bad",
}


def waiting_part(changes: Changes, host: HostDescription, token: str) -> Markup | None:
    """Every change that waits for the person, with what it does and the buttons that it has."""
    found = changes.waiting()
    if not found:
        return None
    cards = [_waiting(each, host, token) for each in found]
    return element("section", element("h2", "Changes that wait"), *cards, id="changes")


def recovery_part(changes: Changes, token: str) -> Markup | None:
    """What was under way when its process ended, what nobody knows yet, and what blocks the notes."""
    unsettled, blocking = changes.unsettled(), changes.blocking()
    if not unsettled and not blocking:
        return None
    rows = [
        element("li", element("strong", named(each)), _badge(each), _why(each), data_tx=each.tx_id)
        for each in unsettled
    ]
    stops = [
        element(
            "li",
            element("strong", named(each)),
            _badge(each),
            _why(each),
            element("span", "Every change of the notes is refused until an operator says:"),
            element("code", f"consentry tx resolve {each.tx_id} --reason TEXT"),
            data_tx=each.tx_id,
        )
        for each in blocking
    ]
    words = (
        "Something was under way and is not on record as ended. Looking into it asks the store, which knows "
        "for good whether it took effect."
    )
    looking = form(token, "/changes/recover", button("Recover", "yes")) if unsettled else None
    return element(
        "section",
        element("h2", "To be recovered"),
        element(
            "div",
            element("p", words) if unsettled else None,
            element("ul", *rows, *stops, _class="recovering"),
            looking,
            _class="card alarm",
        ),
        id="recovery",
    )


def history_part(changes: Changes, token: str) -> Markup:
    """The latest transactions: whose, what became of them, and what they changed."""
    rows = [_done(each, token) for each in changes.latest(MOST_SHOWN)]
    return element(
        "section",
        element("h2", "Changes so far"),
        element("div", element("ol", *rows), _class="card history"),
        element(
            "p",
            "Every change of a note is one of these; consentry tx list --all has the rest.",
            _class="meta",
        ),
        id="history",
    )


def _waiting(change: Change, host: HostDescription, token: str) -> Markup:
    attempt = change.attempt
    lines = [] if change.preview is None else lines_of(change.preview)
    is_whole = len(lines) <= MOST_LINES and all(map(_is_shown_whole, lines))
    return element(
        "article",
        element(
            "h3", _title(change), element("small", SAYS[attempt.state], _class="standing lacking")
        ),
        _reason(attempt, host),
        element(
            "p",
            "The notes were changed since this preview was made: it will not be applied as it is.",
            _class="stale",
        )
        if change.is_outdated and attempt.state is not _S.FAILED_PRE_APPLY
        else None,
        _difference(lines[:MOST_LINES]),
        None if is_whole else element("p", TOO_LONG, _class="stale"),
        _own_words(attempt),
        _facts(change),
        _buttons(change, token, is_whole=is_whole),
        _class="card question change",
        data_tx=attempt.tx_id,
        data_request=attempt.request_id if attempt.state is _S.APPROVAL_PENDING else None,
        data_state=attempt.state.value,
    )


def _is_shown_whole(line: Line) -> bool:
    return len(line.text or "") <= MOST_TEXT and len(line.place) <= MOST_PLACE


def _title(change: Change) -> str:
    origin = change.attempt.origin
    who = "You" if origin.module is None else origin.module.module_id
    version = "" if origin.module is None else f" {origin.module.module_version}"
    much = "the notes" if change.preview is None else f"the notes: {counted(change.preview)}"
    return f"{who}{version} {'want' if origin.module is None else 'wants'} to change {much}"


def _reason(attempt: Attempt, host: HostDescription) -> Markup | None:
    """Why a person is asked, and whose reason that is; or what went wrong."""
    if attempt.state is _S.FAILED_PRE_APPLY:
        return _why(attempt)
    rule = attempt.origin.rule
    if rule is None:
        return None
    declared = (host.command(each) for each in attempt.origin.commands)
    ours = [each.requires_approval for each in declared if each is not None]
    is_ours = rule.reason in [each.reason for each in ours if each is not None]
    why = rule.reason if is_ours else f"the module wants you to be asked: “{rule.reason}”"
    return element("p", f"The board asks because {why}.")


def _why(attempt: Attempt) -> Markup | None:
    error = attempt.error
    words = why_not(attempt)
    return None if error is None else element("p", f"{error.code}: {words}", _class="why")


def _difference(lines: Sequence[Line]) -> Markup | None:
    rows = [
        element(
            "li",
            element("span", each.sign, _class="sign"),
            element(
                "div",
                *(
                    element("p", seen_whole(part))
                    for part in (each.text or "").split("\n")
                    if each.text is not None
                ),
                element("code", seen_whole(each.place)) if each.place else None,
            ),
            _class=_LOOKS[each.sign],
        )
        for each in lines
    ]
    return element("ul", *rows, _class="difference") if rows else None


def _own_words(attempt: Attempt) -> Markup | None:
    if attempt.origin.module is None:
        return None
    quoted = element("span", f"“{attempt.origin.label}”")
    return element("blockquote", element("small", "In its own words"), quoted)


def _facts(change: Change) -> Markup:
    attempt, origin = change.attempt, change.attempt.origin
    calls = f"calls {', '.join(origin.commands)}" if origin.commands else "the board's own form"
    clicked = "nobody clicked" if origin.origin.is_automation else "after your click"
    words = [calls, clicked, f"attempt {attempt.attempt_no}"]
    if change.request is not None:
        words.append(f"a yes holds for {attempt.ttl_seconds} seconds and for this preview alone")
        words.append(f"no answer by {change.request.deadline.shown()[:16]} is a no")
    if attempt.preview_hash is not None:
        words.append(f"preview {attempt.preview_hash[:19]}…")
    return element("p", " · ".join(words), _class="meta")


def _buttons(change: Change, token: str, *, is_whole: bool) -> Markup | None:
    attempt = change.attempt
    if attempt.state is _S.APPROVAL_PENDING:
        return form(
            token,
            "/answer",
            hidden(request=str(attempt.request_id)),
            button("Approve and apply", "yes", name="decision", value="once") if is_whole else None,
            button("Reject", "no", name="decision", value="deny"),
            _class="row",
        )
    if attempt.state is _S.APPROVED:
        return _own_button(attempt, token, "/changes/apply", "Apply", "yes")
    again = _own_button(attempt, token, "/changes/again", "Preview again", "yes")
    over = _own_button(attempt, token, "/changes/give-up", "Give up", "no")
    return element("div", again, over, _class="row")


def _own_button(attempt: Attempt, token: str, route: str, label: str, look: str) -> Markup:
    return form(token, route, hidden(tx=attempt.tx_id), button(label, look))


def _done(change: Change, token: str) -> Markup:
    attempt = change.attempt
    lines = [] if change.preview is None else lines_of(change.preview)
    much = "no preview" if change.preview is None else counted(change.preview)
    back = None
    if attempt.state is _S.APPLIED:
        back = _own_button(attempt, token, "/changes/roll-back", "Roll back", "small")
    return element(
        "li",
        element(
            "header",
            element("strong", named(attempt)),
            _badge(attempt),
            back,
        ),
        element(
            "details",
            element("summary", f"{attempt.created_at.shown()[11:19]} · {much}"),
            _difference(lines[:MOST_LINES]),
            _why(attempt),
            element("p", element("code", attempt.tx_id), _class="meta"),
        ),
        data_tx=attempt.tx_id,
        data_state=attempt.state.value,
    )


def _badge(attempt: Attempt) -> Markup:
    words = SAYS.get(attempt.state, attempt.state.value)
    return element(
        "span",
        words,
        _class=f"badge {_STANDS.get(attempt.state, 'neutral')}",
        title=attempt.state.value,
    )
