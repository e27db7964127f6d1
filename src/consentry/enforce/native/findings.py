"""Reads the observer's notes: which files were read, what was started, and what was refused.

A note says what was asked for and whether that is there inside and outside. What it means depends on
the plan: a name inside a granted root that was found was read; one that exists only outside was
hidden, and asking for it is a violation; one that is nowhere is a missing file and nothing else.
"""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from consentry.base.values import dataclass, field, replace
from consentry.enforce.egress.report import Reach, Reached
from consentry.enforce.engine import DirectChange, FileState, HeldAs, ProgramRun
from consentry.enforce.native.landlockaudit import Attested, Refusal
from consentry.enforce.native.mediatedreads import is_granted
from consentry.enforce.native.planner import ENGINE, Plan
from consentry.enforce.native.runtime import HOME
from consentry.enforce.roots import OWN_FOLDERS
from consentry.enforce.violations import Operation, PermissionDenied, Truth
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.protected import ProtectedRoots

NAME_LOOKUP: Final = "name lookup"
"""The resource of a violation where a program asked for some name, and nobody heard which."""

DATAGRAMS: Final = "datagrams"
"""The resource of a violation where programs sent some, by the kernel's count."""
DATAGRAMS_STAY: Final = "datagrams do not leave the box"

_LOOPBACK: Final = ("127.", "::1", "::ffff:127.")
_NAME_SERVICE: Final = 53
_READING: Final = frozenset({"fs.read_file", "fs.read_dir"})
# What every program looks for when it starts and does without: asking is no sign of anything.
USUAL: Final = frozenset(
    {
        "/etc/ld.so.preload",
        "/etc/selinux/config",
        "/etc/host.conf",
        "/etc/gai.conf",
        "/etc/services",
        "/etc/protocols",
        "/etc/inputrc",
        "/etc/terminfo",
        "/etc/bash.bashrc",
        "/etc/profile",
        "/etc/crypto-policies/back-ends/opensslcnf.config",
        "/etc/gcrypt/hwf.deny",
        "/var/run/nscd/socket",
        "/run/nscd/socket",
        "/run/systemd/userdb",
    }
)


@dataclass(slots=True)
class Findings:
    """What the notes of one run come to."""

    reads: dict[str, int] = field(default_factory=dict)
    held: dict[str, HeldAs] = field(default_factory=dict)
    direct: dict[str, DirectChange] = field(default_factory=dict)
    touched: dict[str, None] = field(default_factory=dict)
    """Names in a layer that were to be written, made, moved or removed, whatever is left of them."""
    runtime: dict[str, int] = field(default_factory=dict)
    programs: list[ProgramRun] = field(default_factory=list)
    violations: list[PermissionDenied] = field(default_factory=list)
    complete: bool = True
    reads_truth: Truth = Truth.OBSERVED
    states: dict[str, tuple[FileState, ...]] = field(default_factory=dict)

    def add_attested(self, attested: Sequence[PermissionDenied]) -> None:
        """What the kernel vouches for stands in place of what was seen of the same refusal."""
        known = {(each.operation, each.resource) for each in attested}
        seen = [each for each in self.violations if (each.operation, each.resource) not in known]
        self.violations = [*attested, *seen]

    def add_reached(self, reached: Reached) -> None:
        """What the proxy refused, in its own words."""
        self.complete = self.complete and reached.left_out == 0
        for each in reached.places:
            if not each.is_allowed:
                self.violations.append(_refused_by_proxy(each))


def _refused_name(name: str, times: int) -> PermissionDenied:
    allow = f"--net {shlex.quote(name)}"
    return PermissionDenied(Operation.NET, name, ENGINE, Truth.MEDIATED, "no network", allow, times)


def _refused_by_proxy(each: Reach) -> PermissionDenied:
    host = f"[{each.host}]" if ":" in each.host else each.host
    place = f"{host}:{each.port}" if each.port else host
    # What is granted by a name leads where it leads; only the address itself would allow it.
    allow = f"--net {shlex.quote(place)}" if each.rule is None else None
    rule = each.why or "not granted"
    return PermissionDenied(Operation.NET, place, ENGINE, Truth.MEDIATED, rule, allow, each.times)


def denied_by_landlock(
    attested: Attested, plan: Plan, protected: ProtectedRoots
) -> Sequence[PermissionDenied]:
    """The refusals that the kernel recorded, with what would allow each."""
    reader = _Reader(plan, protected, Truth.KERNEL)
    for refusal, times in attested.refusals.items():
        reader.take_refusal(refusal, times)
    return reader.found.violations


def findings_of(notes: Mapping[str, Any], plan: Plan, protected: ProtectedRoots) -> Findings:
    """Everything the notes say, in the order it was first seen."""
    reader = _Reader(plan, protected)
    reader.hears_names = "names" in notes
    for note in notes.get("notes", ()):
        reader.take(note)
    for name, times in notes.get("names", ()):
        reader.found.violations.append(_refused_name(name, times))
    lost = notes.get("lost", 0)
    if lost:
        reader.found.violations.append(
            PermissionDenied(
                Operation.NET, DATAGRAMS, ENGINE, Truth.KERNEL, DATAGRAMS_STAY, None, lost
            )
        )
    reader.found.complete = not (notes.get("left_out") or notes.get("problems"))
    if plan.exact is not None and not notes.get("left_out") and not reader.has_moved:
        # All of them passed through the opener, and all of them were noted by their own names.
        reader.found.reads_truth = Truth.MEDIATED
    return reader.found


class _Reader:
    def __init__(
        self, plan: Plan, protected: ProtectedRoots, truth: Truth = Truth.OBSERVED
    ) -> None:
        self._truth = truth
        self._plan = plan
        self._protected = protected
        written = plan.layered if plan.direct is None else plan.direct.roots
        self._shown = tuple(
            str(root.path) for root in (*(each.root for each in written), *plan.readable)
        )
        self._apart = () if plan.workspace is None else (plan.workspace,)
        self._layered = tuple(str(each.root.path) for each in plan.layered)
        self.found = Findings()
        self.has_moved = False
        self.hears_names = False

    def take(self, note: tuple[Any, ...]) -> None:
        kind, raw, is_inside, is_folder, detail, times = note
        place = os.fsdecode(raw)
        match kind:
            case "exec":
                self._exec(place, detail, times, is_inside=is_inside)
            case "look" if is_inside and self._is_closed(place):
                pass  # a name that is there may be looked at; nothing was read or refused
            case "read" | "look":
                # To be looked up is not refused to what is there, only to be opened.
                is_closed = is_inside and kind == "read" and not self._plan.may_read(place)
                is_inside = is_inside and not is_closed
                self._read(
                    place, times, is_inside=is_inside, is_folder=is_folder, is_outside=detail
                )
            case "opened":
                self._opened(place, FileState(*detail), times)
            case "refused":
                if self._is_closed(place):
                    self._read_granted(place, times)
                elif not is_granted(self._plan, place):
                    self._deny_path(Operation.READ, place, "--read", times)
            case "connect":
                self._connect(place, detail, times, is_datagram=is_inside)
            case "unix":
                self._talk(place, times, is_inside=is_inside, is_outside=detail)
            case "kept":
                self._deny(Operation.WRITE, place, detail, None, times, Truth.MEDIATED)
            case _:
                self._take_change(kind, place, times, was_there=is_inside, is_folder=is_folder)

    def _take_change(
        self, kind: str, place: str, times: int, *, was_there: bool, is_folder: bool
    ) -> None:
        if kind in ("rename", "linked"):
            self._move(place, times, is_file=was_there and not is_folder)
        if kind != "linked":
            if _below(place, self._layered) and (was_there or kind in ("write", "create")):
                self.found.touched[place] = None
            self._change(place, kind, was_there=was_there, is_folder=is_folder)
            self._write(place, times, _as_granted(place) if kind == "write" else place)

    def _move(self, place: str, times: int, *, is_file: bool) -> None:
        """What has another name in a layer from here on is read by that one; so it counts as read.

        The names of a move are the program's own to change while they are looked at.
        """
        self.has_moved = True
        is_shown = _below(place, self._shown) and not _below(place, self._plan.hidden)
        if is_file and is_shown and self._plan.direct is None and Path(place).is_file():
            self._read_granted(place, times)

    def take_refusal(self, refusal: Refusal, times: int) -> None:
        """One kind of refusal as Landlock recorded it."""
        kinds = {each.partition(".")[0] for each in refusal.blockers}
        target = refusal.target
        if kinds == {"fs"} and target.startswith("/"):
            rights = set(refusal.blockers)
            if rights <= _READING:
                self._deny_path(Operation.READ, target, "--read", times)
            elif "fs.execute" in rights:
                why = "not among the programs that may start"
                self._deny(Operation.RUN, target, why, _option("--exec", target), times)
            else:
                self._deny_path(Operation.WRITE, target, "--write", times)
        elif kinds == {"net"} or "scope.abstract_unix_socket" in refusal.blockers:
            self._deny(Operation.NET, target, "no network", None, times)
        else:
            # Signals, tracing and mounting have no word of their own among the operations.
            rule = f"Landlock: {', '.join(refusal.blockers)}"
            self._deny(Operation.RUN, target or "another process", rule, None, times)

    def _exec(self, place: str, words: tuple[bytes, ...], times: int, *, is_inside: bool) -> None:
        may = self._plan.may_start(place)
        if is_inside and may:
            told = tuple(os.fsdecode(word) for word in words)
            self.found.programs.append(ProgramRun(place, told, times))
            return
        found = place if is_inside else self._outside(place)
        if found is not None:
            why = "not among the programs that may start"
            self._deny(Operation.RUN, found, why, _option("--exec", found), times)

    def _read(
        self, place: str, times: int, *, is_inside: bool, is_folder: bool, is_outside: bool
    ) -> None:
        if _below(place, self._plan.hidden):
            self._deny(Operation.READ, place, "denied inside a granted folder", None, times)
        elif is_inside:
            root = next((each for each in self._plan.runtime.roots if _is_below(place, each)), None)
            if root is not None:
                self.found.runtime[root] = self.found.runtime.get(root, 0) + times
            elif self._plan.exact is None and not is_folder and _below(place, self._shown):
                self._read_granted(place, times)
        elif _below(place, self._layered) and not self._is_closed(place):
            pass  # the run has removed it from its layer, or it came to the host meanwhile
        elif self._is_open_outside(place):
            pass  # it was not there when it was asked for, whatever is there since
        elif place not in USUAL and not _below(place, self._plan.runtime.roots):
            found = place if is_outside else self._outside(place)
            if found is not None:
                self._deny_path(Operation.READ, found, "--read", times)

    def _is_open_outside(self, place: str) -> bool:
        """Whether the program stands in the host's own tree, and may read what is at that name."""
        return not self._plan.has_own_tree and self._plan.may_read(place)

    def _is_closed(self, place: str) -> bool:
        return _below(place, self._shown) and self._plan.grants.held_as(place) is None

    def _read_granted(self, place: str, times: int) -> None:
        """A file in a root that is shown; a grant may mean it, or only files beside it."""
        held = self._plan.grants.held_as(place)
        if held is None:
            rule = self._plan.grants.rule_against(place)
            self._deny(Operation.READ, place, rule, _option("--read", place), times)
        else:
            self.found.held[place] = held
            self.found.reads[place] = self.found.reads.get(place, 0) + times

    def _opened(self, place: str, state: FileState, times: int) -> None:
        root = next((each for each in self._plan.runtime.roots if _is_below(place, each)), None)
        if root is not None:
            self.found.runtime[root] = self.found.runtime.get(root, 0) + times
        elif _below(place, self._shown):
            self._read_granted(place, times)
            self.found.states[place] = (*self.found.states.get(place, ()), state)

    def _outside(self, place: str) -> str | None:
        """What a name that is nowhere inside leads to on the host; below the run's home, the user's."""
        if os.path.lexists(place):
            return place
        home = self._plan.home
        if home is not None and place.startswith(f"{HOME}/"):
            there = home + place.removeprefix(HOME)
            return there if os.path.lexists(there) else None
        return None

    def _change(self, place: str, kind: str, *, was_there: bool, is_folder: bool) -> None:
        """A name in a folder that is written at once, as it was when it was first asked for."""
        if self._plan.direct is None or not self._plan.direct.has(place):
            return
        known = self.found.direct.get(place)
        goes = kind in ("delete", "rename")
        if known is None:
            self.found.direct[place] = DirectChange(was_there, is_folder, goes)
        elif goes and not known.goes:
            self.found.direct[place] = replace(known, goes=True)

    def _write(self, place: str, times: int, named: str) -> None:
        if _below(place, self._plan.hidden):
            self._deny(Operation.WRITE, place, "denied inside a granted folder", None, times)
        elif not self._plan.may_write(place):
            self._deny_path(Operation.WRITE, place, "--write", times, named)

    def _connect(self, host: str, port: int, times: int, *, is_datagram: bool) -> None:
        is_at_home = host.startswith(_LOOPBACK)
        is_lost = is_datagram and not is_at_home and port != _NAME_SERVICE
        if is_lost and self._plan.ways:
            self._deny(Operation.NET, _spelled(host, port), DATAGRAMS_STAY, None, times)
            return
        if port in self._plan.ways or (is_at_home and port != _NAME_SERVICE):
            return
        if port == _NAME_SERVICE and (self._plan.ways or (is_at_home and self.hears_names)):
            return  # whoever listens there tells of it
        if is_at_home:
            # No name service is configured in the box, and this is where programs then look.
            self._deny(Operation.NET, NAME_LOOKUP, "no network", None, times)
            return
        address = _spelled(host, port)
        rule = "no network"
        if self._plan.ways:
            rule = "only the proxy, and ports that were granted, lead out"
        self._deny(Operation.NET, address, rule, f"--net {address}", times)

    def _talk(self, place: str, times: int, *, is_inside: bool, is_outside: bool) -> None:
        """Sockets of the box are in its own folders; wherever else, a listener is out of reach."""
        is_own = is_inside and _below(place, OWN_FOLDERS) and not _below(place, self._shown)
        if is_outside and not is_own and place not in USUAL:
            self._deny(Operation.NET, f"unix:{place}", "not granted", None, times)

    def _deny_path(
        self, operation: Operation, place: str, option: str, times: int, named: str | None = None
    ) -> None:
        row = self._protected.over(_literal(place))
        own = next((each for each in OWN_FOLDERS if _is_below(place, each)), None)
        if row is not None and place != "/":
            rule = f"protected root {row.pattern.text}"
            self._deny(operation, place, rule, None, times)
        elif own is not None and not _below(place, (*self._shown, *self._apart)):
            rule = f"{own} is the run's own" if self._plan.has_own_tree else "not granted"
            self._deny(operation, place, rule, None, times)
        else:
            self._deny(operation, place, "not granted", _option(option, named or place), times)

    def _deny(
        self,
        operation: Operation,
        resource: str,
        rule: str,
        allow: str | None,
        times: int,
        truth: Truth | None = None,
    ) -> None:
        self.found.violations.append(
            PermissionDenied(operation, resource, ENGINE, truth or self._truth, rule, allow, times)
        )


def _spelled(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _option(name: str, place: str) -> str:
    """The option as it can be typed."""
    return f"{name} {shlex.quote(place)}"


def _as_granted(place: str) -> str:
    """What to name so that it can be written: a new file without an ending, by its folder."""
    path = PurePosixPath(place)
    is_plain = path.suffix or os.path.lexists(place) or path.parent == path
    return place if is_plain else f"{path.parent}/"


def _literal(place: str) -> Pattern:
    names = tuple(name for name in PurePosixPath(place).parts if name not in ("/", "..", "."))
    return Pattern.literal(Anchor.ABSOLUTE, names)


def _below(place: str, roots: Iterable[str]) -> bool:
    return any(_is_below(place, root) for root in roots)


def _is_below(place: str, root: str) -> bool:
    return place == root or place.startswith(root.rstrip("/") + "/")


def merged(violations: Iterable[PermissionDenied]) -> Iterator[PermissionDenied]:
    """One entry for each operation and resource, with how often it happened."""
    seen: dict[tuple[str, str], PermissionDenied] = {}
    for each in violations:
        key = (each.operation, each.resource)
        known = seen.get(key)
        if known is None:
            seen[key] = each
        else:
            seen[key] = PermissionDenied(
                known.operation, known.resource, known.engine, known.truth, known.rule,
                known.allow, known.times + each.times,
            )  # fmt: skip
    yield from seen.values()
