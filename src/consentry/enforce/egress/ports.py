"""On which ports a box's programs are heard, by what they may reach."""

from typing import Final

from consentry.surface.access import Access
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.modes import AnyHost

PROXY_PORT: Final = 3128
"""Where programs that know of the proxy find it."""

USUAL_PORTS: Final = (21, 22, 80, 443, 587, 993, 3306, 5432, 6379, 8000, 8080, 8443, 9418)
"""Where a grant names no port: programs that know no proxy reach these, others any through it."""

MOST_PORTS: Final = 100
"""Each is two sockets; what was granted beyond is reached through the proxy alone."""

_VARIABLES: Final = ("http_proxy", "https_proxy", "all_proxy")


def ways_of(access: Access[HostScope], *, holds: bool = False) -> tuple[int, ...]:
    """The ports, the proxy's own first; none where nothing may be reached.

    Where the run `holds` what is refused, programs are heard at the usual ones at least, to be asked
    about.
    """
    is_closed = access.level is Level.NONE or (
        access.level is Level.ALLOWLIST and not access.targets
    )
    if is_closed and not holds:
        return ()
    named = {entry.port for entry in access.targets.entries if entry.port is not None}
    is_open = (
        holds
        or access.level is Level.ANY
        or any(entry.port is None for entry in access.targets.entries)
    )
    wanted = sorted((named | set(USUAL_PORTS if is_open else ())) - {PROXY_PORT})
    return (PROXY_PORT, *wanted[: MOST_PORTS - 1])


def proxy_variables(
    access: Access[HostScope], any_host: AnyHost = AnyHost.PUBLIC, *, holds: bool = False
) -> dict[str, str]:
    """What tells programs of the proxy, in both spellings that there are.

    Where every host may be reached, `localhost` is this machine and not the box.
    """
    if not ways_of(access, holds=holds):
        return {}
    place = f"http://127.0.0.1:{PROXY_PORT}"
    told = dict.fromkeys(_VARIABLES, place)
    if access.level is not Level.ANY or any_host is AnyHost.PUBLIC:
        told["no_proxy"] = "localhost,127.0.0.1,::1"
    return told | {name.upper(): value for name, value in told.items()}
