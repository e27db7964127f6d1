"""Which of the guard's seven rules gave the answer, and what it says in words.

The verdict does not name it; it follows from the verdict and what it was judged by, in the order in
which the rules are tried.
"""

from enum import IntEnum
from typing import Final

from consentry.declare.wish import Wish
from consentry.examine.guard import SANITY, Flags
from consentry.examine.verdict import Status, Tag, Verdict
from consentry.surface.dimensions import Level


class Rule(IntEnum):
    """The seven, by their numbers."""

    INCOMPLETE = 1
    OFFLINE = 2
    FORBIDDEN = 3
    NO_WISH = 4
    NOT_ALLOWED = 5
    UNCLASSIFIED = 6
    PASS = 7


_WORDS: Final = {
    Rule.INCOMPLETE: "the change is not wholly known",
    Rule.OFFLINE: "offline was asked for, and the code reaches the network afterwards",
    Rule.NO_WISH: "powers were gained, and no wish says which are allowed",
    Rule.NOT_ALLOWED: "powers were gained that the wish does not allow",
    Rule.UNCLASSIFIED: "something is new of which nobody can tell what it may do",
    Rule.PASS: "nothing was gained that is not allowed",
}
_FORBIDDEN: Final = {
    Tag.PROTECTED.value: "a protected root is reached that no wish names",
    Tag.LOADING.value: "data becomes code beyond what a wish can allow",
}


def answering_rule(verdict: Verdict, wish: Wish | None, flags: Flags) -> Rule:
    """The first rule that applies."""
    tags = {reason.tag for reason in verdict.reasons}
    delta = verdict.delta
    is_extracted = all(rung.ok for rung in verdict.rungs if rung.number == SANITY)
    if not is_extracted:
        return Rule.INCOMPLETE
    if flags.offline and delta.after.net_access.level is not Level.NONE:
        return Rule.OFFLINE
    if tags & _FORBIDDEN.keys():
        return Rule.FORBIDDEN
    if delta.gained and (wish is None or wish.allowed is None):
        return Rule.NO_WISH
    if verdict.status is Status.BLOCKED:
        return Rule.NOT_ALLOWED
    return Rule.UNCLASSIFIED if verdict.status is Status.UNKNOWN else Rule.PASS


def rule_in_words(rule: Rule, verdict: Verdict) -> str:
    """What the rule found, in one line."""
    if rule is not Rule.FORBIDDEN:
        return _WORDS[rule]
    tags = {reason.tag for reason in verdict.reasons}
    return ", and ".join(words for tag, words in _FORBIDDEN.items() if tag in tags)
