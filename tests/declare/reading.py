"""Reads documents for tests: what comes out, or the list of what is wrong."""

from collections.abc import Callable

import pytest

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import BadDocument
from consentry.declare.nodes import json_of
from consentry.declare.reader import read_document
from consentry.declare.values import Value


def anything(root: Value) -> Json:
    """Builds the plain values of a document, whatever they are."""
    try:
        return json_of(root.node)
    except ValueError:
        return None  # of a document that is refused anyway


def values_of(text: str, name: str = "d.yaml") -> Json:
    """The values of a document that nothing is wrong with."""
    return read_document(text.encode(), name, anything)


def problems_with(
    content: str | bytes,
    build: Callable[[Value], object] = anything,
    name: str = "d.yaml",
) -> list[str]:
    """What is wrong with a document, each as it is told."""
    raw = content.encode() if isinstance(content, str) else content
    with pytest.raises(BadDocument) as caught:
        read_document(raw, name, build)
    assert caught.value.code is Code.DOCUMENT_INVALID
    return [str(problem) for problem in caught.value.problems]
