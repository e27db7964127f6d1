"""HTML made of elements, never of pasted text: what is not markup is escaped, wherever it stands.

    element("p", "<b>", _class="note")   ->   <p class="note">&lt;b&gt;</p>

Two ways to escape, for two places. Text that is seen goes through Consentry's `safe_html`: besides the five
characters of HTML it shows what cannot be seen (controls, escapes of terminals, marks that turn the
direction of writing) as escapes. Values of attributes come back from the browser and have to be the same
then, so there only the five characters are escaped. Names of elements and attributes are the source's own.
"""

from html import escape

from consentry.base.safetext import safe_html

_VOID = frozenset(("input", "link", "meta", "br"))
MOST_SHOWN = 400
MOST_WHOLE = 32_000


class Markup(str):
    """Text that is HTML already; only this file makes it."""

    __slots__ = ()


def seen(text: str) -> Markup:
    """Text as a person may see it."""
    return Markup(safe_html(text, limit=MOST_SHOWN))


def seen_whole(text: str) -> Markup:
    """Text that has to be read to its end, as what a change does; only beyond all reason is it cut."""
    return Markup(safe_html(text, limit=MOST_WHOLE))


def element(tag: str, /, *inside: str | None, **attributes: str | bool | None) -> Markup:
    """One element; `_class` is the attribute `class`, None leaves an attribute or a child out."""
    words = "".join(_attribute(key.strip("_"), value) for key, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{tag}{words}>")
    return Markup(f"<{tag}{words}>{together(*inside)}</{tag}>")


def together(*parts: str | None) -> Markup:
    """Several pieces one after the other; those that are no markup are escaped."""
    found = (each for each in parts if each is not None)
    return Markup("".join(each if isinstance(each, Markup) else seen(each) for each in found))


def page(title: str, *inside: str) -> bytes:
    """A whole document, as it is sent."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("link", rel="stylesheet", href="/style.css"),
        element("link", rel="icon", href="/icon.svg"),
    )
    body = element("body", *inside)
    return f"<!doctype html>{element('html', head, body, lang='en')}".encode()


def _attribute(name: str, value: str | bool | None) -> str:  # noqa: FBT001 - as HTML has them
    if value is None or value is False:
        return ""
    key = name.replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(value, quote=True)}"'
