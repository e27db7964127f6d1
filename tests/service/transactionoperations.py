"""What the proof of transactions does, drawn at random: operations, and what befalls programs in them.

An operation is a tuple of plain values. Whose transaction it is about is a number that is read when it is done:
0 for any of the last ones, others for one that it fits.
"""

from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from tests.service.transactionboard import TERMS, VERSIONS

Operation: TypeAlias = tuple[Any, ...]
LATER: Final = (700, 20_700, 61_300, 201_100)
NOTHING_TO_DO: Final = ("nothing",)
LEASE_OVER: Final = TERMS.lease.milliseconds + 300

_recent = st.integers(0, 5)
KEYS = st.sampled_from((None, None, None, "k1", "k2"))
_entities = st.sampled_from(("/notes/a", "/notes/b", "/notes/c", "/notes/d", "/other/x"))
_ops = st.lists(
    st.tuples(st.sampled_from(("put",) * 12 + ("remove", "add", "replace")), _entities),
    min_size=1,
    max_size=3,
    unique_by=lambda op: op[1],
)
_proposes = st.tuples(
    st.just("propose"),
    st.sampled_from(("person", "module", "module", "stranger")),
    st.booleans(),
    _ops,
)
_BY_KIND: Final[dict[str, st.SearchStrategy[Operation]]] = {
    "propose": _proposes,
    "answer": st.tuples(st.just("answer"), _recent, st.sampled_from((True, True, False))),
    "apply": st.tuples(st.just("apply"), _recent, KEYS),
    "back": st.tuples(st.just("back"), _recent, KEYS),
    "again": st.tuples(st.just("again"), _recent),
    "on": st.tuples(st.just("on"), _recent),
    "allow": st.just(("allow",)),
    "rare": st.one_of(
        st.tuples(st.just("reject"), _recent),
        st.tuples(st.just("resolve"), _recent),
        st.tuples(st.just("look"), _recent),
        st.just(("settle",)),
    ),
    "wait": st.tuples(st.just("wait"), st.sampled_from(LATER)),
    "takeaway": st.one_of(
        st.just(("revoke",)),
        st.just(("remove",)),
        st.tuples(st.just("import"), st.sampled_from(VERSIONS)),
        st.tuples(st.just("mode"), st.sampled_from(("inspect-only", "deny-all"))),
    ),
    "overtake": st.tuples(st.just("overtake"), _recent, st.sampled_from(("apply", "back", "look"))),
}


def drawn(*kinds: str) -> st.SearchStrategy[Operation]:
    """One of these kinds."""
    return st.sampled_from(kinds).flatmap(_BY_KIND.__getitem__)


_STEPS: Final = ("propose", "on", "on", "on", "on", "answer", "apply", "back", "again", "rare")
OPERATIONS: Final = drawn(*_STEPS)
"""What takes steps of transactions."""
ANY: Final = drawn(*_STEPS, "on", "on", "wait", "wait", "allow", "allow", "takeaway")
OTHERS: Final = drawn(
    "apply", "back", "answer", "again", "takeaway", "overtake", "overtake", "rare"
)
"""What comes in the middle."""
PROGRAMS: Final = st.sampled_from((0, 1))
PLACES: Final = st.sampled_from((0, 0, 1, 1, 2, 2, 3, 4, 5))
HOW: Final = st.sampled_from(("before", "after", "yes", "no", "slow"))
LASTING: Final = st.sampled_from((False, False, True))
WHEN: Final = st.sampled_from(("before", "middle", "after"))


FITTING: Final[dict[str, tuple[str, ...]]] = {
    "answer": ("APPROVAL_PENDING",),
    "apply": ("APPROVED", "APPLYING", "RECOVERY_PENDING"),
    "back": ("APPLIED", "ROLLBACK_PENDING", "RECOVERY_PENDING"),
    "again": ("FAILED_PRE_APPLY",),
    "reject": ("FAILED_PRE_APPLY", "APPROVAL_PENDING"),
    "resolve": ("FAILED_TERMINAL",),
    "look": ("APPLYING", "ROLLBACK_PENDING", "RECOVERY_PENDING"),
    "overtake": ("APPLYING", "ROLLBACK_PENDING", "APPROVED"),
}
"""What an operation on one transaction is mostly tried on."""
WAYS: Final[dict[str, Operation]] = {
    "APPROVAL_PENDING": ("answer", True),
    "APPROVED": ("apply", None),
    "APPLYING": ("apply", None),
    "APPLIED": ("back", None),
    "ROLLBACK_PENDING": ("back", None),
    "RECOVERY_PENDING": ("look",),
    "FAILED_PRE_APPLY": ("again",),
}
"""What carries a transaction further from each state."""
