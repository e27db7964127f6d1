"""A secret as it is written: for which host, in which field of a request, and where it is kept.

    api.example=Authorization:file:/home/me/keys/api
    api.example:8443=X-Api-Key:env:API_KEY

The secret itself never stands there. What cannot be read may be one that was typed by mistake, so no
message repeats it.
"""

import re
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.surface.targets import ANY_HOST, Target

FILE: Final = "file"
VARIABLE: Final = "env"
USUAL_PORT: Final = 443

_WRITTEN: Final = re.compile(
    r"([^=\s]+)=([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}):(file|env):(.+)", re.ASCII | re.DOTALL
)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# They say whom a message is for, where it ends, and what becomes of the line.
_NEVER: Final = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
     "expect", "keep-alive", "accept-encoding", "proxy-authorization", "proxy-connection")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SecretEntry:
    """One of them; `kept_in` is a path or the name of a variable, as `kind` says."""

    host: str
    port: int
    header: str
    kind: str
    kept_in: str

    @classmethod
    def parse(cls, text: str) -> "SecretEntry":
        """Reads one; raises `secret-unusable`."""
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise _unusable(
                "a secret is not written as HOST=HEADER:file:PATH or HOST=HEADER:env:NAME"
            )
        spelled, header, kind, kept_in = found.groups()
        host, port = _place(spelled)
        if header.lower().replace("_", "-") in _NEVER:
            raise _unusable(f"`{header}` cannot be a secret: it says where a request goes or ends")
        if kind == VARIABLE and _NAME.fullmatch(kept_in) is None:
            raise _unusable(f"the secret for `{spelled}` names no variable")
        if "\0" in kept_in:
            raise _unusable(f"the secret for `{spelled}` names no file")
        return cls(host, port, header, kind, kept_in)

    @property
    def place(self) -> Target:
        """The one host and port that it is for."""
        bare = f"[{self.host}]" if ":" in self.host else self.host
        return Target.parse(f"{bare}:{self.port}")


def _place(spelled: str) -> tuple[str, int]:
    target = Target.parse(spelled)
    network = target.network
    is_wide = network is not None and network.prefixlen != network.max_prefixlen
    if is_wide or target.host == ANY_HOST or target.host.startswith("*."):
        raise _unusable(f"a secret is for one host, and `{spelled}` may be many")
    return target.host, target.port or USUAL_PORT


def _unusable(message: str) -> BadInput:
    return BadInput(Code.SECRET_UNUSABLE, message)
