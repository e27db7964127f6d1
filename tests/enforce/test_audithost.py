"""The host's audit settings: turned on for those who ask, shared, and put back as they were."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from consentry.enforce.engine import Held, Lacking
from consentry.enforce.native import calls
from consentry.enforce.native.audithost import (
    PLACE,
    AuditOn,
    AuditState,
    attested_here,
    read_state,
    why_not_attested,
)
from tests.enforce import hosts
from tests.enforce.audits import audit_alone


@pytest.fixture
def off() -> Iterator[AuditState]:
    """Audit is off, as it is found; it must be so again at the end."""
    with audit_alone():
        before = read_state()
        if before.enabled:
            pytest.skip("this host's audit is on, and is left alone")
        yield before
        assert read_state() == before


def test_it_is_on_while_held_and_put_back(off: AuditState) -> None:
    """With room for many records; both as they were afterwards."""
    audit = AuditOn()
    during = read_state()
    audit.close()
    assert during.enabled == 1
    assert during.room > off.room
    assert PLACE.read_bytes() == b""


def test_the_last_one_puts_it_back(off: AuditState) -> None:
    """Runs may overlap in any order."""
    first, second = AuditOn(), AuditOn()
    first.close()
    assert read_state().enabled == 1
    second.close()
    assert read_state() == off


def test_after_one_that_was_killed_the_next_puts_it_back(off: AuditState) -> None:
    """What was found is kept outside of the process."""
    script = (
        "import os, signal\n"
        "from consentry.enforce.native.audithost import AuditOn\n"
        "kept = AuditOn()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=False)
    assert ended.returncode == -9
    assert read_state().enabled == 1
    AuditOn().close()
    assert read_state() == off


def test_probing_changes_nothing(off: AuditState) -> None:
    """Whether it could be done is asked without doing it."""
    found = attested_here(os.getuid(), calls.landlock_abi())
    assert isinstance(found, Held)
    assert "is off here" in found.mechanism
    assert read_state() == off


def test_an_ordinary_user_is_told_that_only_root_may() -> None:
    """No denial of an ordinary user's run is attested."""
    found = attested_here(hosts.NOBODY, 7)
    assert isinstance(found, Lacking)
    assert found.why == "the kernel gives its audit records to root only"


def test_an_older_landlock_writes_no_records() -> None:
    """Which is said before anything else."""
    why = why_not_attested(0, 6)
    assert why is not None
    assert why.startswith("Landlock of this kernel (ABI 6) writes no audit records")


def test_where_the_kernel_refuses_its_own_words_are_told() -> None:
    """Root in a user namespace of its own is not the host's root."""
    if os.getuid() != 0:
        pytest.skip("only root gets as far as asking the kernel")
    script = (
        "from consentry.enforce.native.audithost import why_not_attested\n"
        "print(why_not_attested(0, 7))"
    )
    said = hosts.run_as(0, script, before=_in_users_of_its_own)
    assert said.startswith("the audit records cannot be read here: ")


def _in_users_of_its_own() -> None:
    calls.checked(calls._libc.unshare(calls.CLONE_NEWUSER), "unshare")
