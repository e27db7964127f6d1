"""Claims match mechanisms: words that promise more than any mechanism here keeps are refused.

A promise is pardoned when its own sentence takes it back (`a permit is not …`), because saying
plainly what a thing is not is what the documents are for. `signature` beside a bare hash is refused
unless the sentence says which key, or that it is none.

Sentences are found by punctuation, table cells, list items and blank lines; the check does not
understand them. A sentence that negates something else passes.
"""

import re
from collections.abc import Iterator

from checks.finding import Finding
from checks.tree import Tree

WHERE = (
    "src/",
    "docs/",
    "examples/",
    "README.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CHANGELOG.md",
)

_PROMISES = (
    "un" + "forge" + "able",
    "un" + "represent" + "able",
    "un" + "bypass" + "able",
    "tamper" + r"[\s-]?" + "proof",
    "impossible" + r"[\s\W]+to[\s\W]+" + "bypass",
)
_PROMISE = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(_PROMISES)})", re.IGNORECASE)
_SIGNATURE = re.compile(r"(?<![A-Za-z])signatures?(?![A-Za-z])", re.IGNORECASE)
_HASH = re.compile(r"hash|digest|sha-?256", re.IGNORECASE)
_KEYED = re.compile(r"(?<![A-Za-z])keys?(?![A-Za-z])|ed25519|dsse|sigstore", re.IGNORECASE)
_NEGATION = re.compile(
    r"(?<![A-Za-z])(?:not|never|no|nor|neither|cannot)(?![A-Za-z])|n't", re.IGNORECASE
)
_BOUNDARY = re.compile(r"[.!?;](?=[\s\"'`*)|]|$)|\n\s*\n|\||\n\s*(?:[-*+]|\d+\.|\#+)\s+|\"\"\"")


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every promise that its own sentence does not take back."""
    for path in tree.matching(*WHERE):
        yield from _in_text(path, tree.text(path))


def _in_text(path: str, text: str) -> Iterator[Finding]:
    for match in _PROMISE.finditer(text):
        if not _NEGATION.search(_sentence(text, match.start())):
            word = " ".join(match.group().split())
            message = f"`{word}` promises more than the mechanism keeps; say what it does instead"
            yield Finding(path, _line(text, match.start()), message)
    for match in _SIGNATURE.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        if not _HASH.search(text[start : len(text) if end < 0 else end]):
            continue
        sentence = _sentence(text, match.start())
        if not _KEYED.search(sentence) and not _NEGATION.search(sentence):
            message = "`signature` beside a hash: name the key that signs, or call it a digest"
            yield Finding(path, _line(text, match.start()), message)


def _sentence(text: str, position: int) -> str:
    """The sentence around a position, as punctuation and layout show it."""
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        if boundary.start() >= position:
            return text[start : boundary.start()]
        start = boundary.end()
    return text[start:]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
