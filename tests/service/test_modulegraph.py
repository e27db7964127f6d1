"""The picture of an action graph: whole, harmless, and readable whatever a module calls its actions."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.actiongraph import ActionGraph, GraphAction, GraphSurface
from consentry.declare.actiongraphfrom import graph_of
from consentry.declare.hostdescription import HostDescription
from consentry.service.graphcards import STYLE
from consentry.service.modulegraph import graph_svg
from tests.declare.actiongraphs import GRAPHS, HARD, HOST, MODULE, PACKAGE, SOFT, action

HOSTILE = (
    "<script>alert(1)</script>",
    "]]><script/>",
    "</text></svg><script>alert(1)</script>",
    '" onload="alert(1)',
    "&lt;script&gt; &amp; &#x3c; &bogus;",
    "a\u202eb\u2066c",
    "\x1b[2J\x1b]0;title\x07",
    "a\0b\ud800c\ufffe",
    "javascript:alert(1)",
    "<!--", "<![CDATA[", "<?xml?>", "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>",
)  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {f"{SVG}{each}" for each in ("svg", "title", "style", "rect", "g", "text", "tspan", "path")}
ATTRIBUTES = {
    "class", "width", "height", "viewBox", "role", "aria-label", "x", "y", "rx", "d",
}  # fmt: skip


def drawn(*actions: GraphAction, host: HostDescription = HOST) -> str:
    """The picture of these actions."""
    return graph_svg(ActionGraph(MODULE, actions), host)


def texts(picture: str) -> list[str]:
    """The lines of text in a picture, as a reader sees them."""
    root = ET.fromstring(picture)  # noqa: S314 - what is drawn here has no entities
    return ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]


def check_harmless(picture: str) -> None:
    """Only what we draw is there: no script, link, handler, entity, or style but our own."""
    root = ET.fromstring(picture)  # noqa: S314 - what is drawn here has no entities
    for element in root.iter():
        assert element.tag in KNOWN
        assert set(element.attrib) <= ATTRIBUTES
    assert [each.text for each in root.iter(f"{SVG}style")] == [STYLE]
    assert not re.search(r"url\(|@import|http", STYLE)
    assert picture.replace("\n", "").isprintable()


def check_layout(picture: str) -> None:
    """Cards of one column do not touch, and everything lies inside the picture."""
    root = ET.fromstring(picture)  # noqa: S314 - what is drawn here has no entities
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    ends: dict[int, int] = {}
    for card in root.iter(f"{SVG}rect"):
        if not card.attrib["class"].startswith("card"):
            continue
        x, y, wide, tall = (int(card.attrib[key]) for key in ("x", "y", "width", "height"))
        assert y > ends.get(x, 0)
        assert x + wide < width
        assert y + tall < height
        ends[x] = y + tall


def test_what_is_told() -> None:
    """CONTRACTS §2-shape: every field of an action and what the host says of its commands."""
    told = texts(
        drawn(
            action(
                "notes.add",
                "notes.share",
                mutates=("/notes/4",),
                requires_approval=replace(SOFT, approver="operator"),
                undo_command="notes.remove",
                surface=(GraphSurface.TOOLBAR, GraphSurface.AUTOMATION),
            )
        )
    )
    for line in (
        MODULE,
        "on board 2.1.0",
        "Act",
        "act",
        "1. notes.add",
        "2. notes.share",
        "writes /notes/4",
        "undone by notes.remove",
        "asked, may be remembered for the session",
        "it shares a note",
        "approved by operator",
        "called from toolbar",
        "called without a person from automation",
        "doc: changes the document",
        "sync: changes what is shared",
        "needs state.write.tx",
    ):
        assert line in told


@pytest.mark.parametrize(
    ("command", "css", "words"),
    [
        ("view.zoom", "none", "nobody is asked"),
        ("notes.share", "soft", "asked, may be remembered for the session"),
        ("board.clear", "hard", "asked every time"),
    ],
)
def test_the_colour_is_of_what_will_be_asked(command: str, css: str, words: str) -> None:
    """CONTRACTS §2-approval: also where the action says that nobody has to be asked."""
    picture = drawn(action(command, requires_approval=False))
    card = picture.partition(">Act</text>")
    assert f'class="{css}" x="364"' in card[0]
    assert words in card[2]


def test_a_command_stands_once() -> None:
    """CONTRACTS §2-calls: however often it is called, with a wire from each call."""
    picture = drawn(action("view.zoom", "notes.add", "view.zoom"), action("view.zoom"))
    assert texts(picture).count("view.zoom") == 1
    assert picture.count('<path class="wire"') == 1 + 4
    check_layout(picture)


def test_a_command_that_the_host_does_not_have() -> None:
    """CONTRACTS §2-calls: it is drawn, and told, and not mistaken for one of the host's."""
    picture = drawn(action("nope"))
    assert 'class="card missing"' in picture
    assert "not a command of this host" in texts(picture)
    assert 'class="card missing"' not in drawn(action("view.zoom"))


def test_a_module_without_actions() -> None:
    """CONTRACTS §2-shape: a picture that says so."""
    picture = drawn()
    assert "this module has no actions" in texts(picture)
    check_harmless(picture)


def test_the_package_gives_name_and_version() -> None:
    """CONTRACTS §2-shape: where it is known whose graph it is."""
    told = texts(graph_svg(graph_of(PACKAGE, HOST), HOST, PACKAGE))
    assert {"Tidy notes", "version 1.2.3"} <= set(told)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    """CONTRACTS §2-shape: in every place where a module or a host has a say."""
    rule = replace(HARD, reason=text, approver=text)
    bad = GraphAction(text, text, (text,), (text,), rule, text)
    package = replace(PACKAGE, display_name=text, module_version=text)
    host = HostDescription(
        text,
        text,
        (replace(HOST.commands[0], command_id=text, label=text, role=text, mutates=(text,)),),
    )
    for against in (HOST, host):
        picture = graph_svg(ActionGraph(text, (bad,)), against, package)
        check_harmless(picture)
        check_layout(picture)
        assert "<script" not in picture


@pytest.mark.parametrize("text", ["x", "\x1b\u202e<&", "\\", "W", "\u6f22", "\u0301"])
def test_a_text_of_a_megabyte(text: str) -> None:
    """CONTRACTS §2-shape: it is cut with an exact count, and takes no more room than any other."""
    label = text * (1_000_000 // len(text))
    picture = drawn(GraphAction(label, label, (label,), (f"/{label}",), True, label))
    assert len(picture) < 20_000
    assert re.search(r"\\u\{(999984|1000000) left out\}", picture)
    check_harmless(picture)
    check_layout(picture)


def test_long_lists_end_in_a_count() -> None:
    """CONTRACTS §2-calls: what is not drawn is counted."""
    calls = ("view.zoom",) * 1000
    paths = tuple(f"/notes/{each}" for each in range(500))
    told = texts(drawn(action(*calls, mutates=paths)))
    assert "and 960 more" in told
    assert "and 494 more" in told


def test_a_thousand_actions() -> None:
    """CONTRACTS §2-shape: all are drawn, none over another, in a size that grows with their number."""
    actions = [
        GraphAction(f"a{each}", f"Action {each}", ("notes.add", "view.zoom"))
        for each in range(1000)
    ]
    picture = drawn(*actions)
    assert {f"Action {each}" for each in range(1000)} <= set(texts(picture))
    check_layout(picture)
    hundred = drawn(*actions[:100])
    assert len(picture) < 11 * len(hundred)


def test_it_is_readable_in_the_dark() -> None:
    """CONTRACTS §2-shape: both schemes have a value for every colour that is used."""
    light, dark = (set(re.findall(r"--([a-z]+):", part)) for part in STYLE.split("@media"))
    used = set(re.findall(r"var\(--([a-z]+)\)", STYLE))
    assert "prefers-color-scheme: dark" in STYLE
    assert light == dark == used


@given(GRAPHS, st.text(max_size=40))
def test_any_graph_is_drawn(graph: ActionGraph, title: str) -> None:
    """CONTRACTS §2-shape: well formed, harmless, laid out, and the same each time."""
    package = replace(PACKAGE, display_name=title)
    picture = graph_svg(graph, HOST, package)
    check_harmless(picture)
    check_layout(picture)
    assert graph_svg(graph, HOST, package) == picture
