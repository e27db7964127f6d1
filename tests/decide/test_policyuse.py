"""When a policy entry stands for the yes to a run, and which one (CONSENT §base-4, CONTRACTS §12-files)."""

from dataclasses import replace

import pytest

from consentry.base.clock import Instant
from consentry.decide.policyuse import PolicyLack, PolicyNeed, entry_for, why_no_entry
from consentry.declare.policy import CommitRule, PolicyEntry
from tests.decide.samples import DIGEST, MACHINE, NOW, OTHER_DIGEST, OTHER_MACHINE, machine

ENTRY = PolicyEntry("build", "1.0.0", DIGEST)
NEED = PolicyNeed("build", "1.0.0", DIGEST, ("--fast", ""), machine("farm"))


@pytest.mark.parametrize(
    "entry",
    [
        ENTRY,
        replace(ENTRY, arguments=("--fast", "")),
        replace(ENTRY, machines=(MACHINE,)),
        replace(ENTRY, machines=(OTHER_MACHINE, "label:farm")),
        replace(ENTRY, expires=NOW),
    ],
)
def test_an_entry_that_fits_holds(entry: PolicyEntry) -> None:
    """CONTRACTS §7-override: exact version and digest; what is not named is any."""
    assert entry_for([entry], NEED, NOW) is entry
    assert why_no_entry([entry], NEED, NOW) is None


@pytest.mark.parametrize(
    ("entry", "lack"),
    [
        (replace(ENTRY, tool="other"), PolicyLack.NOT_NAMED),
        (replace(ENTRY, version="1.0.1"), PolicyLack.OTHER_VERSION),
        (replace(ENTRY, digest=OTHER_DIGEST), PolicyLack.OTHER_DIGEST),
        (replace(ENTRY, arguments=("--fast",)), PolicyLack.OTHER_ARGUMENTS),
        (replace(ENTRY, arguments=()), PolicyLack.OTHER_ARGUMENTS),
        (replace(ENTRY, machines=(OTHER_MACHINE,)), PolicyLack.OTHER_MACHINE),
        (replace(ENTRY, machines=("label:fleet",)), PolicyLack.OTHER_MACHINE),
        (replace(ENTRY, expires=Instant(NOW.unix_ms - 1)), PolicyLack.EXPIRED),
    ],
)
def test_an_entry_that_does_not_fit_stands_for_nothing(
    entry: PolicyEntry, lack: PolicyLack
) -> None:
    """Each field in turn; a digest that differs by a byte is another tool."""
    assert entry_for([entry], NEED, NOW) is None
    assert why_no_entry([entry], NEED, NOW) is lack


def test_the_nearest_miss_is_named() -> None:
    """Of several, the one that got furthest; of none, that none names the tool."""
    entries = [replace(ENTRY, tool="other"), replace(ENTRY, digest=OTHER_DIGEST)]
    assert why_no_entry(entries, NEED, NOW) is PolicyLack.OTHER_DIGEST
    assert why_no_entry([], NEED, NOW) is PolicyLack.NOT_NAMED


def test_the_entry_that_says_most_counts() -> None:
    """A wide `commit: auto` does not overrule a narrow `commit: ask`, in whichever order."""
    wide = replace(ENTRY, commit=CommitRule.AUTO)
    here = replace(ENTRY, machines=("label:farm",), commit=CommitRule.AUTO)
    narrow = replace(ENTRY, arguments=("--fast", ""))
    for entries in ([wide, here, narrow], [narrow, here, wide], [here, narrow, wide]):
        assert entry_for(entries, NEED, NOW) is narrow
    assert entry_for([wide, here], NEED, NOW) is here
