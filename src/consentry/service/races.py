"""Writes into the ledger that a path was swapped between its check and its use (TRUST §path-4).

The sinks are for `SandboxedPath`: `recorded_in` for whoever knows what the command was started in, and
`recorded` for the rest, whose ledger is found by the environment of this process. The ledger is opened
when there is something to write, and closed again. Where that fails the error says why, and
`SandboxedPath` raises the race with it: a race is never lost because it could not be recorded.

Whoever opens a file imports this, so everything of weight is imported when a race is met.
"""

TYPE_CHECKING = False  # as `typing` has it
if TYPE_CHECKING:
    from consentry.base.canonical import Json
    from consentry.base.paths import FilesystemRaceDetected, RaceSink
    from consentry.service.surroundings import Surroundings

_SUBJECT = "filesystem"


def recorded(race: "FilesystemRaceDetected") -> None:
    """Writes it into the ledger of this process."""
    from consentry import ENVIRON  # noqa: PLC0415 - see above
    from consentry.service.surroundings import look_around  # noqa: PLC0415

    _append(look_around(ENVIRON), race)


def recorded_in(around: "Surroundings") -> "RaceSink":
    """A sink that writes into the ledger of these surroundings."""
    return lambda race: _append(around, race)


def _append(around: "Surroundings", race: "FilesystemRaceDetected") -> None:
    from consentry.base.clock import SystemClock  # noqa: PLC0415 - see above
    from consentry.base.ids import Uuid7Ids  # noqa: PLC0415
    from consentry.record.envelope import EVENT_PREFIX, Context, Draft  # noqa: PLC0415
    from consentry.record.events import EventType  # noqa: PLC0415
    from consentry.service.identity import local_user  # noqa: PLC0415
    from consentry.service.ledgers import ledger_for_writing  # noqa: PLC0415

    clock = SystemClock()
    ledger = ledger_for_writing(around, clock)
    try:
        event = Uuid7Ids(clock).new(EVENT_PREFIX)
        context = Context(local_user(around, ledger.writer), ledger.writer)
        kind = EventType.FILESYSTEM_RACE_DETECTED
        ledger.append(Draft(event, kind, clock.now(), _SUBJECT, context, _payload(race)))
    finally:
        ledger.close()


def _payload(race: "FilesystemRaceDetected") -> "dict[str, Json]":
    return {
        "jail": _readable(race.jail),
        "relative": _readable(race.relative),
        "component": _readable(race.component),
    }


def _readable(name: str) -> str:
    """A name as text that JSON can hold: bytes that are no UTF-8 are written as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
