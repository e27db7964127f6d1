"""Reads a wish: `WISH_IR` of the guard (GUARD §wish-1, CONTRACTS §12-wish).

    wish_ir_version: "1"
    id: wish-feed-reader
    scope: ["fetch the feed and keep a copy"]
    non_goals: ["start other programs"]
    allowed_capabilities:
      fs_write_roots: [feeds/cache]
      net_access: ALLOWLIST
      allowlists: {net_access: ["feeds.example.org:443"]}

`allowed_capabilities` may be left out, and each of its fields; nothing follows from what is not said.
"""

from functools import partial
from typing import Final

from consentry.declare.documentids import identifier, known_version
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.surfaceblock import Reach, surface_block
from consentry.declare.values import Value
from consentry.declare.wish import WISH_VERSION, Wish

KEYS: Final = ("wish_ir_version", "id", "scope", "non_goals", "allowed_capabilities")


def read_wish(content: bytes, name: str, *, parse: Parse = parsed) -> Wish:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def _document(root: Value) -> Wish:
    fields = root.fields(KEYS)
    if fields is None:
        return Wish("")
    fields.need("wish_ir_version", known_version(WISH_VERSION), "")
    return Wish(
        id=fields.need("id", identifier, ""),
        scope=fields.need("scope", _texts, ()),
        non_goals=fields.need("non_goals", _texts, ()),
        allowed=fields.may(
            "allowed_capabilities", partial(surface_block, reach=Reach.ALL_BELOW), None
        ),
    )


def _texts(value: Value) -> tuple[str, ...] | None:
    return value.each(Value.text)
