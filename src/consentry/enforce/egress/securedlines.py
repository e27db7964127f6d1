"""The proxy's side of secrets: for which place there are any, and a line on which they may be sent."""

import ssl
from collections.abc import Iterable
from socket import socket

from consentry.base.errors import BadInput
from consentry.enforce.egress.rules import read_target
from consentry.enforce.egress.secrets import Secret


class Secured:
    """The secrets for one place: what is added to a request, and how the line is made safe."""

    def __init__(self, secrets: tuple[Secret, ...]) -> None:
        self._secrets = secrets
        self._host = secrets[0].host
        self._context = ssl.create_default_context(cadata=secrets[0].vouchers)
        self._context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._context.set_alpn_protocols(["http/1.1"])

    @property
    def headers(self) -> str:
        """Which fields are added, for the record."""
        return ", ".join(sorted(each.header.lower() for each in self._secrets))

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """What is added to a request; answers are asked for as they are, so that they can be masked."""
        added = tuple((each.header, each.value) for each in self._secrets)
        return (*added, ("Accept-Encoding", "identity"))

    @property
    def hidden_bytes(self) -> int:
        """How much longer the secrets make a request, which is nobody's business."""
        return sum(len(f"{name}: {value}\r\n") for name, value in self.fields)

    @property
    def masked(self) -> tuple[bytes, ...]:
        """What must not come back: each value, and what stands behind a scheme such as `Bearer`."""
        words = {word for each in self._secrets for word in each.telling_words}
        return tuple(sorted((word.encode("latin-1") for word in words), key=len, reverse=True))

    def wrap(self, connection: socket) -> socket:
        """TLS over a connection, with the host's certificate verified; raises an `OSError`."""
        return self._context.wrap_socket(connection, server_hostname=self._host)


class Secrets:
    """All secrets of one run, by place."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._by_place: dict[tuple[str, int], tuple[Secret, ...]] = {}
        for each in secrets:
            place = each.host, each.port
            self._by_place[place] = (*self._by_place.get(place, ()), each)
        self._secured: dict[tuple[str, int], Secured] = {}

    def for_place(self, host: str, port: int) -> Secured | None:
        """Those for exactly this host and port, however it is spelled."""
        try:
            place = read_target(host, port).host, port
        except BadInput:
            return None  # which is refused anyway
        found = self._by_place.get(place)
        if found is None:
            return None
        if place not in self._secured:
            self._secured[place] = Secured(found)
        return self._secured[place]
