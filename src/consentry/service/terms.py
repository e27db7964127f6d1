"""The terms that are easily mixed up, each with what it is and what it is not (CONTRACTS §8)."""

from consentry.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """One term of the product."""

    name: str
    meaning: str
    is_not: str


TERMS = (
    Term("surface", "a typed set of powers", "a decision: it says what could be done"),
    Term(
        "approval-request",
        "a row that asks one person one question and is answered once",
        "a grant: until it is answered it gives nothing",
    ),
    Term(
        "consent",
        "a person's recorded yes for a tool at a digest and a surface: once, for a session, for a "
        "time, or until something changes",
        "a capability grant",
    ),
    Term(
        "grant",
        "a stored yes for one capability of the catalog and one version of a module",
        "a power of the operating system",
    ),
    Term(
        "permission-set",
        "the stored, named surface of a saved capability; changing it is an escalation",
        "a consent",
    ),
    Term(
        "policy-entry",
        "an operator's consent, written in a file, for a tool at an exact version and digest",
        "a bypass: every use of it is audited",
    ),
    Term(
        "permit",
        "a single-use row made just before a start from one of the above, and the only thing "
        "that the enforcing room accepts",
        "a seal: only audit and lint keep others from making one",
    ),
    Term(
        "token",
        "a typed value for one of our own operations, minted against a consent or a grant",
        "a permit",
    ),
)
