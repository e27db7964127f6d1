"""Claims match mechanisms: words that promise more than any mechanism here keeps are refused.

A promise is pardoned when it is taken back right before it is made (`a permit is not …`): a negation
in the same clause, at most four words ahead. Saying plainly what a thing is not is what the
documents are for; a negation of something else pardons nothing. `signature` in one sentence with a
bare hash is refused unless the sentence says which key, or that the one is not the other.

Sentences and clauses are found by punctuation, conjunctions, table cells, list items and blank
lines; the check does not understand them. It knows the phrases listed here, and no others.
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
    "pyproject.toml",
)

# Tables of functions that other people wrote and named: they claim nothing.
NAMES_OF_OTHERS = "src/consentry/examine/knowledge/"

_JOINT = (
    r"[\s*_\u00ad\u2010\u2011-]{0,4}"  # what may stand inside a word: hyphens, marks, a line break
)
_GAP = r"[\s*_]+"
_BROKEN = r"(?:forged?|faked?|bypass(?:ed)?|circumvent(?:ed)?|tamper(?:ed)?|evaded?|escaped?)"
_CANNOT = r"(?:cannot|can\s+not|can['\u2019]t|can\s+never|could\s+never)"
_PROMISES = (
    f"un{_JOINT}(?:forge|represent|bypass|tamper|break|hack){_JOINT}able",
    f"(?:tamper|bullet|fool|escape){_JOINT}proof",
    f"impossible{_GAP}to{_GAP}{_BROKEN}",
    f"{_CANNOT}{_GAP}(?:ever{_GAP})?be{_GAP}{_BROKEN}",
    rf"guarantee[sd]?{_GAP}(?:\w+{_GAP})?isolation",
    f"isolation{_GAP}is{_GAP}guaranteed",
    # What a jailed path is at construction it need not be later.
    rf"(?:with)?in{_JOINT}(?:(?:the|its|a){_GAP})?jail{_JOINT}for{_JOINT}ever",
    rf"(?:never|cannot{_GAP}ever){_GAP}leaves?{_GAP}(?:the|its){_GAP}jail",
)
_PROMISE = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(_PROMISES)})(?![A-Za-z])", re.IGNORECASE)
_HASH = re.compile(r"hash|digest|sha-?256", re.IGNORECASE)
_SIGNATURE = re.compile(
    r"(?<![A-Za-z])(?:signatures?(?![A-Za-z])|signed\s+(?:by|with|using)\s+(?:(?!and\b|but\b)[\w'-]+\s+){0,3}?"
    rf"(?=[\w-]*(?:{_HASH.pattern})))",
    re.IGNORECASE,
)
_KEYED = re.compile(
    r"(?<![A-Za-z])keys?(?![A-Za-z])|ed25519|dsse|sigstore|_keys?(?![a-z])|keyfile", re.IGNORECASE
)
# `not only` and `no doubt` take nothing back.
_NEGATION = re.compile(
    r"(?<![A-Za-z])(?:not(?!\s+(?:only|just|merely|simply)\b)|never|no(?!\s+(?:doubt|less|question)\b)"
    r"|nor|neither|cannot)(?![A-Za-z])|n['\u2019]t(?![A-Za-z])",
    re.IGNORECASE,
)
_WORDS_BETWEEN = 4
_CLAUSE_END = re.compile(
    r"[,:()\u2013\u2014]|\b(?:and|but|yet|so|because|since|while|therefore)\b", re.IGNORECASE
)
_BOUNDARY = re.compile(r"[.!?;](?=[\s\"'`*)|]|$)|\n\s*\n|\||\n\s*(?:[-*+]|\d+\.|\#+)\s+|\"\"\"")


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every promise that is not taken back where it is made."""
    for path in tree.matching(*WHERE):
        if not path.startswith(NAMES_OF_OTHERS):
            yield from _in_text(path, tree.text(path))


def _in_text(path: str, text: str) -> Iterator[Finding]:
    for match in _PROMISE.finditer(text):
        start, _ = _sentence(text, match.start())
        if not _is_taken_back(text[start : match.start()]):
            word = " ".join(match.group().split())
            message = f"`{word}` promises more than the mechanism keeps; say what it does instead"
            yield Finding(path, _line(text, match.start()), message)
    for match in _SIGNATURE.finditer(text):
        start, end = _sentence(text, match.start())
        hashes = list(_HASH.finditer(text, start, end))
        if not hashes or _KEYED.search(text, start, end):
            continue
        if not any(_is_taken_back(text[start : word.start()]) for word in (match, *hashes)):
            word = match.group().split()[0]
            message = f"`{word}` beside a hash: name the key that signs, or call it a digest"
            yield Finding(path, _line(text, match.start()), message)


def _is_taken_back(before: str) -> bool:
    """Whether what stands before a word in its sentence ends in a negation, or a few words after one."""
    clause = _CLAUSE_END.split(before)[-1]
    negations = list(_NEGATION.finditer(clause))
    return bool(negations) and len(clause[negations[-1].end() :].split()) <= _WORDS_BETWEEN


def _sentence(text: str, position: int) -> tuple[int, int]:
    """Where the sentence around a position begins and ends, as punctuation and layout show it."""
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        if boundary.start() >= position:
            return start, boundary.start()
        start = boundary.end()
    return start, len(text)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
