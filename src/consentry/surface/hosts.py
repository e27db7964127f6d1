"""Network targets as one scope: join, meet, cover and difference, decided.

How a target is written, and which spellings are refused, is in `targets`. Names are nested or apart
and blocks of addresses are ranges of numbers, so every question is answered by look-ups of the names
above a name and by a sweep over the ranges inside a block, however many entries there are.

A block is covered by the blocks that fill it together, those for any port and those for its own.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, summarize_address_range

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass, field
from consentry.surface.targets import ANY_HOST, Network, Target

MOST_TARGETS = 100_000

_IPV4 = 4


class _Ranges:
    """Blocks of one port and one address family, as sorted ranges that do not touch."""

    __slots__ = ("ends", "starts")

    def __init__(self, networks: Iterable[Network]) -> None:
        ranges = sorted((int(n.network_address), int(n.broadcast_address)) for n in networks)
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in ranges:
            if self.ends and start <= self.ends[-1] + 1:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)

    def without(self, others: "_Ranges") -> Iterator[tuple[int, int]]:
        """The ranges less those of `others`."""
        for start, end in zip(self.starts, self.ends, strict=True):
            address = start
            place = max(0, bisect_right(others.starts, start) - 1)
            while address <= end and place < len(others.starts) and others.starts[place] <= end:
                if address < others.starts[place]:
                    yield address, others.starts[place] - 1
                address = max(address, others.ends[place] + 1)
                place += 1
            if address <= end:
                yield address, end

    def end_of_range_at(self, address: int) -> int:
        """The last address of the range that holds this one, or -1."""
        place = bisect_right(self.starts, address) - 1
        return self.ends[place] if place >= 0 and self.ends[place] >= address else -1


_NO_RANGES = _Ranges(())
_NO_PORTS: set[int | None] = set()


class _Index:
    """The same targets, arranged for look-ups."""

    __slots__ = ("blocks", "lengths", "ports", "ranges", "wildcard_lengths")

    def __init__(self, targets: Iterable[Target]) -> None:
        self.ports: dict[str, set[int | None]] = {}
        self.blocks: dict[tuple[int, int, int], set[int | None]] = {}
        self.lengths: dict[int, set[int]] = {}
        networks: dict[tuple[int | None, int], list[Network]] = {}
        for target in targets:
            self.ports.setdefault(target.host, set()).add(target.port)
            if target.network is not None:
                key = _key_of(target.network)
                self.blocks.setdefault(key, set()).add(target.port)
                self.lengths.setdefault(key[0], set()).add(key[1])
                networks.setdefault((target.port, target.network.version), []).append(
                    target.network
                )
        self.wildcard_lengths = {len(host) for host in self.ports if host.startswith("*.")}
        self.ranges = {key: _Ranges(found) for key, found in networks.items()}

    def reaches(self, target: Target) -> bool:
        """Whether the entries together reach everything `target` does."""
        if self._names_it(target):
            return True
        return target.network is not None and self._fills(target.network, target.port)

    def _names_it(self, target: Target) -> bool:
        return any(
            found is not None and (None in found or target.port in found)
            for found in map(self.ports.get, self._hosts_over(target))
        )

    def has_wider_than(self, target: Target) -> bool:
        """Whether another entry, by its name, makes this one superfluous."""
        for host in self._hosts_over(target):
            found = self.ports.get(host, set())
            if None in found and (host, None) != (target.host, target.port):
                return True
            if target.port in found and host != target.host:
                return True
        return False

    def _fills(self, network: Network, port: int | None) -> bool:
        family = network.version
        everywhere = self.ranges.get((None, family), _NO_RANGES)
        here = self.ranges.get((port, family), _NO_RANGES)
        address, last = int(network.network_address), int(network.broadcast_address)
        while address <= last:
            end = max(everywhere.end_of_range_at(address), here.end_of_range_at(address))
            if end < 0:
                return False
            address = end + 1
        return True

    def meets_from_below(self, target: Target) -> Iterator[Target]:
        """What `target` shares with each entry whose host contains its host."""
        for host in self._hosts_over(target):
            yield from _on_both(target, self.ports.get(host, _NO_PORTS))
        if target.network is not None:
            version, length, address = _key_of(target.network)
            for wide in self.lengths.get(version, ()):
                if wide < length:
                    key = version, wide, address >> (length - wide)
                    yield from _on_both(target, self.blocks.get(key, _NO_PORTS))

    def _hosts_over(self, target: Target) -> Iterator[str]:
        """The host as it is spelled, then the wildcards that contain it; no blocks."""
        name = target.host
        yield name
        if name == ANY_HOST:
            return
        yield ANY_HOST
        if target.network is not None or not self.wildcard_lengths:
            return
        dot = name.find(".", 2 if name.startswith("*.") else 0)
        while dot >= 0:
            if len(name) - dot + 1 in self.wildcard_lengths:
                yield f"*{name[dot:]}"
            dot = name.find(".", dot + 1)


@dataclass(frozen=True, slots=True, eq=False)
class HostScope:
    """A set of targets, with the same operators as every other scope."""

    entries: tuple[Target, ...]
    index: _Index = field(repr=False)

    @classmethod
    def parse(cls, spellings: Iterable[str]) -> "HostScope":
        """Reads entries as `str()` writes them."""
        return cls.of(Target.parse(text) for text in spellings)

    @classmethod
    def of(cls, targets: Iterable[Target]) -> "HostScope":
        """A scope of these targets: neighbouring blocks joined, and none that others cover."""
        given: set[Target] = set()
        for target in targets:
            given.add(target)
            if len(given) > MOST_TARGETS:
                raise BadInput(Code.SURFACE_TOO_COMPLEX, f"more than {MOST_TARGETS} targets")
        merged = {target for target in given if target.network is None} | set(_joined_blocks(given))
        whole = _Index(merged)
        any_port = _Index(target for target in merged if target.port is None)
        kept = [
            target
            for target in merged
            if not whole.has_wider_than(target)
            and (target.port is None or not any_port.reaches(target))
        ]
        return cls(tuple(sorted(kept, key=str)), _Index(kept))

    def reaches(self, target: Target) -> bool:
        """Whether the scope reaches everything `target` does."""
        return self.index.reaches(target)

    def __or__(self, other: "HostScope") -> "HostScope":
        return HostScope.of((*self.entries, *other.entries)) if other.entries else self

    def __and__(self, other: "HostScope") -> "HostScope":
        return HostScope.of(
            met
            for below, above in ((self, other), (other, self))
            for target in below.entries
            for met in above.index.meets_from_below(target)
        )

    def __sub__(self, other: "HostScope") -> "HostScope":
        left = tuple(target for target in self.entries if not other.reaches(target))
        return HostScope(left, _Index(left))

    def __le__(self, other: "HostScope") -> bool:
        return all(map(other.reaches, self.entries))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HostScope):
            return NotImplemented
        return self <= other <= self

    def __hash__(self) -> int:
        return hash(bool(self.entries))

    def __bool__(self) -> bool:
        return bool(self.entries)

    def __iter__(self) -> Iterator[str]:
        return map(str, self.entries)

    def __repr__(self) -> str:
        return f"HostScope({', '.join(self)})"


def _key_of(network: Network) -> tuple[int, int, int]:
    """Family, prefix length, and the bits of the prefix: what a block is, as numbers."""
    length = network.prefixlen
    return network.version, length, int(network.network_address) >> network.max_prefixlen - length


def _on_both(target: Target, ports: set[int | None]) -> Iterator[Target]:
    """`target` on the ports that it and an entry over it share."""
    if target.port is None:
        yield from map(target.on, ports)
    elif target.port in ports or None in ports:
        yield target


def _joined_blocks(targets: Iterable[Target]) -> Iterator[Target]:
    """The blocks in one spelling: neighbours joined, and for a port only what any port lacks."""
    networks: dict[tuple[int | None, int], list[Network]] = {}
    for target in targets:
        if target.network is not None:
            networks.setdefault((target.port, target.network.version), []).append(target.network)
    ranges = {key: _Ranges(found) for key, found in networks.items()}
    for (port, version), own in ranges.items():
        everywhere = _NO_RANGES if port is None else ranges.get((None, version), _NO_RANGES)
        for first, last in own.without(everywhere):
            for network in _blocks_between(version, first, last):
                yield Target.block(network, port)


def _blocks_between(version: int, first: int, last: int) -> Iterator[Network]:
    if version == _IPV4:
        yield from summarize_address_range(IPv4Address(first), IPv4Address(last))
    else:
        yield from summarize_address_range(IPv6Address(first), IPv6Address(last))
