"""The parts of the page that show modules: the four slots, and the list of what is imported.

What a module may show comes from `host.render` as data, and is drawn in a frame that names the module. A
module that is held back is named with what it wants, and a button asks for it. Nothing of a module stands
outside these frames.
"""

from consentry.modules import LoadedModule, ModuleHost, RenderedEntry, Rendering, Slot, Unfit
from examples.noteboard.deeds import EXPORTS, Deeds
from examples.noteboard.markup import Markup, element, together
from examples.noteboard.questions import button, form, hidden
from examples.noteboard.record import Record

RENDERS = "ui.slot.render"
MOST_ENTRIES = 8
MOST_ACTIONS = 40
_SLOT_WORDS = {
    Slot.CHROME_TOP_TOOLBAR: "top bar",
    Slot.LEFT_PANEL: "left panel",
    Slot.TOOLBAR_INLINE: "above the notes",
    Slot.TOOLBAR_BOTTOM: "below the notes",
}


def slot(deeds: Deeds, place: Slot, token: str) -> Markup:
    """What modules show in one place, and who is held back from it."""
    rendering = deeds.host.render(place)
    modules = dict.fromkeys(each.module_id for each in rendering.entries)
    entries = [part for name in modules for part in _entries(deeds, rendering, name, token)]
    held = [
        form(
            token,
            "/modules/ask",
            hidden(module=each.module.module_id, capability=RENDERS),
            element("span", f"{each.module.module_id} wants to show something here"),
            button("Ask me", "small"),
            _class="held",
            data_module=each.module.module_id,
            data_code=each.code,
        )
        for each in rendering.held_back
    ]
    name = _SLOT_WORDS[place]
    return element(
        "section",
        element("small", name if entries or held else f"{name}: empty", _class="slot-name"),
        *entries,
        *held,
        _class="slot" if entries or held else "slot empty",
        data_slot=place.value,
    )


def _entries(deeds: Deeds, rendering: Rendering, module_id: str, token: str) -> list[Markup]:
    """Those of one module in one place, as many as a page bears."""
    own = [each for each in rendering.entries if each.module_id == module_id]
    shown = [_entry(deeds, each, token) for each in own[:MOST_ENTRIES]]
    left = len(own) - len(shown)
    more = f"{module_id} has {left} more entries here, which are not shown"
    return [*shown, element("p", more, _class="meta")] if left else shown


def _entry(deeds: Deeds, entry: RenderedEntry, token: str) -> Markup:
    """An entry in the frame of its module; one with an action has a button."""
    label = entry.label or entry.entry_id
    said = deeds.results.get((entry.module_id, entry.binding_id or ""))
    is_panel = entry.type.value == "panel"
    shown = None
    if entry.binding_id is not None:
        shown = _calling(deeds.host, entry.module_id, entry.binding_id, token, label, "of-module")
    elif not is_panel:
        shown = element("span", label, _class="plain")
    title = element("strong", label) if is_panel and entry.binding_id is None else None
    answer = element("output", said) if is_panel and said else None
    return element(
        "div",
        element("small", entry.module_id, _class="who"),
        title,
        shown,
        answer,
        _class=f"entry {entry.type.value}",
        data_module=entry.module_id,
        data_entry=entry.entry_id,
    )


def _calling(
    host: ModuleHost, module_id: str, action_id: str, token: str, label: str, look: str
) -> Markup:
    """A button that calls an action; one that exports first leads to where the file is chosen."""
    named = hidden(module=module_id, action=action_id)
    if _is_export(host, module_id, action_id):
        return element("form", named, button(label, look), method="get", action="/export")
    return form(token, "/act", named, button(label, look))


def _is_export(host: ModuleHost, module_id: str, action_id: str) -> bool:
    """Whether an action writes a file, so that the person has to choose one first."""
    action = host.graph(module_id).action(action_id)
    called = () if action is None else action.calls
    found = (host.description.command(each) for each in called)
    return any(each is not None and EXPORTS in each.capabilities for each in found)


def module_list(deeds: Deeds, record: Record, token: str) -> Markup:
    """Every module with its version, its capabilities and how each stands."""
    modules = deeds.host.modules()
    cards = [_module(deeds.host, each, record, token) for each in modules]
    return together(*cards) if cards else element("p", "No module is imported yet.", _class="meta")


def _module(host: ModuleHost, module: LoadedModule | Unfit, record: Record, token: str) -> Markup:
    identity = module.identity
    removing = form(
        token, "/modules/remove", hidden(module=identity.module_id), button("Remove", "small no")
    )
    title = element(
        "header",
        element("h3", f"{identity.module_id} {identity.module_version}"),
        removing,
    )
    if isinstance(module, Unfit):
        inside: tuple[Markup, ...] = (element("p", f"does not fit: {module.problem.message}"),)
    else:
        inside = (
            element("p", f"“{module.package.display_name}”", _class="meta"),
            element("ul", *_standings(host, module, record), _class="standings"),
            _palette(host, module, token),
        )
    return element("article", title, *inside, _class="card module", data_module=identity.module_id)


def _standings(host: ModuleHost, module: LoadedModule, record: Record) -> list[Markup]:
    identity = module.identity
    rows = []
    for capability_id in module.package.capabilities:
        rejection = host.check(identity.module_id, [capability_id]).rejection
        if rejection is None:
            given = record.granted_for(identity.module_id, identity.module_version, capability_id)
            is_session = given == "session"
            words = "allowed for this session" if is_session else "allowed until it changes"
            look = "granted"
        else:
            words, look = rejection.code.value, "lacking"
        rows.append(
            element(
                "li",
                element("code", capability_id),
                element("span", words, _class=f"standing {look}"),
                data_capability=capability_id,
            )
        )
    return rows or [element("li", "asks for no capability")]


def _palette(host: ModuleHost, module: LoadedModule, token: str) -> Markup:
    """Its actions by name: a module that shows nothing, or wrote a graph, can be called here too."""
    module_id = module.identity.module_id
    calls = [
        _calling(host, module_id, action.id, token, action.id, "small")
        for action in module.graph.actions[:MOST_ACTIONS]
    ]
    return element(
        "details",
        element("summary", f"{len(module.graph.actions)} actions"),
        element("div", *calls, _class="row"),
    )


def import_form(token: str) -> Markup:
    """Where a package, and a graph if there is one, is handed over."""
    return form(
        token,
        "/modules/import",
        element("label", "Package", element("input", type="file", name="package", required=True)),
        element(
            "label", "Action graph, if it has one", element("input", type="file", name="graph")
        ),
        button("Import"),
        _class="card import",
        enctype="multipart/form-data",
    )
