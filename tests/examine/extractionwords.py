"""Extractions as words, so that a table of cases can state what is expected of each.

`read:`, `write:`, `net:`, `proc:`, `env:`, `load:`, `crypto:` and `tool:` with the target; nothing
behind the colon is the step to a list, `*` any target. `?` begins the key of what is not known, `>`
a module of the same tree.
"""

from consentry.examine.atoms import Extraction, Operation

_WORDS = {
    Operation.READ: "read",
    Operation.WRITE: "write",
    Operation.CONNECT: "net",
    Operation.START: "proc",
    Operation.SEE: "env",
    Operation.LOAD: "load",
    Operation.ENCRYPT: "crypto",
    Operation.CALL: "tool",
}


def words_of(extraction: Extraction) -> str:
    """All that was found, sorted, each once."""
    words = {f"{_WORDS[each.atom.operation]}:{each.atom.target}" for each in extraction.found}
    words |= {f"?{each.key.replace(' ', '-')}" for each in extraction.unclassified}
    words |= {f">{each.module}" for each in extraction.imports if not each.is_known}
    return " ".join(sorted(word.partition("sha256:")[0] for word in words))


def as_expected(words: str) -> str:
    """What a case states, in the same order."""
    return " ".join(sorted(words.split()))
