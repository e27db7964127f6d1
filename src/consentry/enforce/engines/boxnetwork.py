"""Puts the proxy between one box and the network, from before its program starts to its end."""

from threading import Lock
from typing import TYPE_CHECKING

from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.ports import ways_of
from consentry.enforce.egress.report import Reached
from consentry.enforce.held import HeldDesk
from consentry.enforce.native.parent import Running

if TYPE_CHECKING:
    from consentry.enforce.egress.owner import Proxy, ServedBox


class KeptProxy:
    """The proxy of an engine, started by the first run that may reach anything."""

    def __init__(self) -> None:
        self._proxy: Proxy | None = None
        self._one_start = Lock()

    def started(self) -> "Proxy":
        """The one that there is, or a new one."""
        from consentry.enforce.egress.owner import Proxy  # noqa: PLC0415 - few runs need it

        with self._one_start:
            if self._proxy is not None and self._proxy.is_gone:
                self._proxy.close()
                self._proxy = None
            if self._proxy is None:
                self._proxy = Proxy()
            return self._proxy

    def close(self) -> None:
        """Ends it, and every connection with it."""
        with self._one_start:
            proxy, self._proxy = self._proxy, None
        if proxy is not None:
            proxy.close()


class BoxNetwork:
    """Of one run; where it may reach nothing, nothing is done."""

    def __init__(self, proxy: KeptProxy, wanted: Confinement, desk: HeldDesk | None) -> None:
        """`desk` is asked about what was not granted, while the connection waits; ended with the run."""
        self._proxy = proxy
        self._desk = desk
        self._wanted = wanted
        self._served: ServedBox | None = None

    def open(self, running: Running) -> None:
        """Waits for the box's sockets and has them served; a box that failed has none."""
        if not ways_of(self._wanted.surface.net_access, holds=self._desk is not None):
            return
        while not running.ways:
            if not running.hear():
                return
        proxy = self._proxy.started()
        ways, wanted = running.take_ways(), self._wanted
        access = wanted.surface.net_access
        self._served = proxy.serve(access, ways, wanted.secrets, self._desk, wanted.any_host)

    def finish(self) -> Reached:
        """Nothing is let through any more; what was."""
        served, self._served = self._served, None
        reached = Reached() if served is None else served.finish()
        self._ask_no_more()
        return reached

    def close(self) -> None:
        """Of a run whose record nobody waits for."""
        if self._served is not None:
            self._served.close()
            self._served = None
        self._ask_no_more()

    def _ask_no_more(self) -> None:
        if self._desk is not None:
            self._desk.close()
