"""Which controls hold in a box of the native engine, and by what."""

from typing import Final

from consentry.enforce.engine import Control, Held
from consentry.enforce.native.landlockaudit import Attested
from consentry.enforce.violations import Truth
from consentry.surface.modes import Reads, View

HELD: Final = (
    Held(Control.READS, "a root of its own with nothing but the grants, and Landlock"),
    Held(Control.WRITES, "read-only mounts, and Landlock"),
    Held(Control.LAYER, "overlayfs over a file system in memory"),
    Held(Control.DENY_INSIDE, "mounts over the denied names; what is new there is not committed"),
    Held(Control.NO_NETWORK, "a network namespace with nothing in it"),
    Held(Control.PROGRAMS, "Landlock, noexec mounts, no memory files"),
    Held(Control.ENVIRONMENT, "built from nothing"),
    Held(Control.PROCESSES_APART, "a pid namespace, and Landlock's scopes"),
    Held(Control.SYSTEM_CALLS, "a seccomp filter"),
    Held(Control.NO_NEW_POWERS, "no_new_privs, empty capability sets, seccomp"),
    Held(Control.FILES_READ, "a seccomp observer", Truth.OBSERVED),
    Held(Control.DENIALS, "a seccomp observer", Truth.OBSERVED),
)
ON_DISK: Final = Held(Control.LAYER, "overlayfs over folders on the disk")
_VISIBLE_READS: Final = Held(
    Control.READS, "Landlock, and mounts over what is protected; names can be looked up"
)
_EXACT_READS: Final = Held(
    Control.FILES_READ, "files opened for the program, which may not itself", Truth.MEDIATED
)

_BY_PROXY: Final = Held(
    Control.NO_NETWORK,
    "a network namespace of which the proxy is the only way out",
    Truth.MEDIATED,
)


def held_in(
    view: View,
    attested: Attested | None = None,
    reads: Reads = Reads.OBSERVED,
    *,
    has_ways: bool = False,
) -> tuple[Held, ...]:
    """What holds in a box, and by what."""
    other: dict[Control, Held] = {}
    if view is View.VISIBLE:
        other[Control.READS] = _VISIBLE_READS
    if reads is Reads.EXACT:
        other[Control.FILES_READ] = _EXACT_READS
    if has_ways:
        other[Control.NO_NETWORK] = _BY_PROXY
    held = tuple(other.get(each.control, each) for each in HELD)
    if attested is None:
        return held
    records = "Landlock's audit records"
    if attested.why is not None:
        records += f", incomplete: {attested.why}"
    return (*held, Held(Control.DENIALS, records))
