"""Where a shared database is: its URL read once, and shown without what must stay secret.

The URL is libpq's own, `postgresql://user@host:port/database?setting=value`; a password may stand
in it, or come from `PGPASSWORD` or the password file, as libpq does it. Messages show database,
host, port and user, and nothing else of it. A URL that was taken apart in another way than it was
meant, because its password holds an unescaped `@` or `/`, is refused: pieces of the password would
be shown as host or database.

Two defaults differ from libpq's. A host that is reached through a network is spoken to with TLS
(`sslmode=require`) unless the URL, `PGSSLMODE` or the file of `PGSERVICE` names another mode; a
service that the URL itself names is left to speak for itself. And nothing waits for ever:
connecting and dead connections have limits.
"""

import re
from collections.abc import Mapping
from ipaddress import ip_address

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass, field

_LIBPQS_MODE = "prefer"  # TLS if the server happens to offer it
_SCHEME = re.compile(r"postgres(?:ql)?://")
_PORTS = re.compile(r"[0-9]*(,[0-9]*)*")
_DEFAULTS: Mapping[str, str] = {
    "application_name": "consentry",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
_HELP = (
    "write postgresql://user@host:5432/database, and in a password %40 for @, %2F for /, "
    "%3A for :, %25 for %"
)


@dataclass(frozen=True, slots=True)
class PostgresPlace:
    """A database on a server: what libpq needs to reach it, and how messages call it."""

    conninfo: str = field(repr=False)
    shown: str

    def __str__(self) -> str:
        return self.shown


def read_url(url: str) -> PostgresPlace:
    """Takes a URL apart; raises, without repeating it, when it cannot be used."""
    scheme = _SCHEME.match(url)
    if scheme is None:
        raise _refused("does not begin with postgresql://")
    if "@" in _behind_credentials(url[scheme.end() :]):
        raise _refused("has an `@` or `/` in its user or password that is not escaped")
    try:
        named = {key: str(value) for key, value in conninfo_to_dict(url).items()}
    except (ProgrammingError, UnicodeError):
        # What libpq says may quote a part of the password.
        raise _refused("cannot be read: a part is misspelt or not escaped") from None
    if ":" in named.get("user", ""):
        # An escaped colon makes the password a part of the user's name, which messages show.
        raise _refused("has an escaped `:` between its user and password")
    if not _PORTS.fullmatch(named.get("port", "")):
        raise _refused("has a port that is not a number")
    defaults = {**_DEFAULTS, **_tls_default(named)}
    settings = {**defaults, **named, "client_encoding": "UTF8"}
    return PostgresPlace(make_conninfo(**settings), _shown(named))


def _behind_credentials(rest: str) -> str:
    """Host, port and database, found as libpq finds them: behind an `@` that no `/` precedes."""
    credentials, at, behind = rest.partition("@")
    return (behind if at and "/" not in credentials else rest).partition("?")[0]


def _tls_default(named: Mapping[str, str]) -> Mapping[str, str]:
    surrounding = _surrounding()
    if "service" in named or "sslmode" in named or surrounding.get("sslmode") != _LIBPQS_MODE:
        return {}
    known = {**surrounding, **named}
    hosts = [host for key in ("host", "hostaddr") for host in known.get(key, "").split(",")]
    return {} if all(map(_is_local, hosts)) else {"sslmode": "require"}


def _surrounding() -> Mapping[str, str]:
    """What libpq finds in its environment variables and files, and its own defaults."""
    found = {option.keyword: option.val for option in Conninfo.get_defaults()}
    return {
        key.decode(): value.decode(errors="replace")
        for key, value in found.items()
        if value is not None
    }


def _is_local(host: str) -> bool:
    """Whether nothing leaves this machine: a socket, or the loopback."""
    if host in ("", "localhost") or host[0] in "/@":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(named: Mapping[str, str]) -> str:
    words = "PostgreSQL"
    for key, before in (("dbname", "database"), ("host", "at"), ("port", "port"), ("user", "as")):
        if named.get(key):
            words += f" {before} `{named[key]}`"
    return words


def _refused(why: str) -> UsageProblem:
    return UsageProblem(Code.SETTING_VALUE, f"the URL of the database {why}", help_line=_HELP)
