"""The questions of modules as the page shows them: the board's facts first, the module's words quoted.

Each question has a form with one button for each answer that it takes. What a module calls itself or its
action stands in a quotation, after the facts, and is never part of a heading or a button.
"""

from consentry.modules import (
    ActionAsk,
    ApprovalRequest,
    CapabilityAsk,
    HostDescription,
    ModuleHost,
    Origin,
    RejectCode,
    RequestKind,
)
from examples.noteboard.markup import Markup, element, together

_SHORT = 19


def form(token: str, route: str, *inside: str | None, **attributes: str | None) -> Markup:
    """A form that posts, with the token that every post needs."""
    hidden = element("input", type="hidden", name="csrf", value=token)
    return element("form", hidden, *inside, method="post", action=route, **attributes)


def hidden(**fields: str) -> Markup:
    """Fields that a form sends along."""
    return together(
        *(element("input", type="hidden", name=key, value=each) for key, each in fields.items())
    )


def button(label: str, _class: str = "", **attributes: str) -> Markup:
    """A button that sends its form."""
    return element("button", label, type="submit", _class=_class or None, **attributes)


def is_about_change(request: ApprovalRequest) -> bool:
    """Whether it asks about a preview, which has a part of the page of its own."""
    return request.question.kind is RequestKind.TRANSACTION


def question_card(request: ApprovalRequest, token: str, host: ModuleHost) -> Markup:
    """One question with its answers."""
    if request.question.kind is RequestKind.CAPABILITY:
        return _about_capabilities(CapabilityAsk.of(request), request, token, host.session_id)
    return _about_action(ActionAsk.of(request), request, token, host.description)


def _about_capabilities(
    ask: CapabilityAsk, request: ApprovalRequest, token: str, session_id: str
) -> Markup:
    module = ask.module
    count = len(ask.wanted)
    what = "a capability" if count == 1 else f"{count} capabilities"
    is_here = ask.session_id == session_id
    answers = [
        button("Allow for this session", "yes", name="decision", value="session")
        if is_here
        else None,
        button("Allow until the module changes", "yes", name="decision", value="persistent"),
        button("Deny", "no", name="decision", value="deny"),
        button("Cancel", "quiet", name="decision", value="cancel"),
    ]
    wanted = [
        element(
            "li",
            element("code", each.capability_id),
            element("span", f"lets it {each.scope}"),
            element("span", f"limits: {'; '.join(each.limits)}", _class="limits"),
            element("span", "granted before, for what the module was then", _class="stale")
            if each.lack is RejectCode.GRANT_STALE
            else None,
        )
        for each in ask.wanted
    ]
    return _card(
        request,
        token,
        f"{module.module_id} {module.module_version} wants {what}",
        element("ul", *wanted, _class="wanted"),
        _own_words(ask.display_name, ask.action_label),
        _facts(request, ask.commands, ask.origin, module.package_digest),
        answers,
    )


def _about_action(
    ask: ActionAsk, request: ApprovalRequest, token: str, host: HostDescription
) -> Markup:
    module = ask.run.module
    declared = (host.command(each) for each in ask.run.commands)
    rules = (each.requires_approval for each in declared if each is not None)
    # A graph may ask for more than its commands do, and then the reason is the module's own word.
    is_ours = ask.rule.reason in [each.reason for each in rules if each is not None]
    why = ask.rule.reason if is_ours else f"the module wants you to be asked: “{ask.rule.reason}”"
    answers = [
        button("Yes, this once", "yes", name="decision", value="once"),
        button("Yes, for this session", "yes", name="decision", value="session")
        if ask.is_rememberable
        else None,
        button("Deny", "no", name="decision", value="deny"),
        button("Cancel", "quiet", name="decision", value="cancel"),
    ]
    return _card(
        request,
        token,
        f"{module.module_id} {module.module_version} is about to call {', '.join(ask.run.commands)}",
        element("p", f"The board asks because {why}."),
        _own_words(ask.display_name, ask.label),
        _facts(request, ask.run.commands, ask.run.origin, module.package_digest),
        answers,
    )


def _card(
    request: ApprovalRequest,
    token: str,
    title: str,
    facts: Markup,
    words: Markup,
    meta: Markup,
    answers: list[Markup | None],
) -> Markup:
    answering = form(token, "/answer", hidden(request=request.request_id), *answers, _class="row")
    return element(
        "article",
        element("h3", title),
        facts,
        words,
        meta,
        answering,
        _class="card question",
        data_request=request.request_id,
    )


def _own_words(name: str, label: str | None) -> Markup:
    """What the module says of itself, as a quotation."""
    quoted = f"“{name}”" if label is None else f"“{name}”, and the action “{label}”"
    return element("blockquote", element("small", "In its own words"), element("span", quoted))


def _facts(
    request: ApprovalRequest,
    commands: tuple[str, ...],
    origin: Origin,
    digest: str,
) -> Markup:
    calls = f"calls {', '.join(commands)}" if commands else "before any action"
    clicked = "called by automation: nobody clicked" if origin.is_automation else "after your click"
    until = f"no answer by {request.deadline.shown()[11:19]} is a no"
    words = " · ".join((calls, clicked, f"package {digest[:_SHORT]}…", until))
    return element("p", words, _class="meta")
