"""Looks for what is missing or wrong, everywhere at once, and says what to do about each.

Unlike `status` it opens documents and the ledger, and it starts boxes: what an engine enforces is
known only when it was tried. It records nothing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadDocument, ConsentryError
from consentry.base.values import dataclass
from consentry.declare.anydocument import read_any
from consentry.declare.documentkind import DocumentKind
from consentry.enforce.engine import Control, Probe
from consentry.enforce.facts import HostView
from consentry.enforce.native.otherways import Way
from consentry.enforce.programs import NATIVE
from consentry.enforce.violations import Truth
from consentry.service.concern import Concern
from consentry.service.engines import EnginesReport, TriedEngine, try_engines
from consentry.service.ledgers import ledger_for_reading
from consentry.service.places import Configuration, Trust
from consentry.service.status import take_status
from consentry.service.surroundings import Surroundings
from consentry.service.userfiles import read_named

_LIMITS: Final = (Control.CPU, Control.MEMORY, Control.PROCESSES)
_OTHERWISE: Final = {
    Way.PRIVATE: "",
    Way.VISIBLE: " with the view `visible`",
    Way.DIRECT: " with `writes: direct`",
}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found, in the order of what depends on what; advice is no problem."""

    engines: EnginesReport
    concerns: tuple[Concern, ...]
    advice: tuple[str, ...]
    ledger: str
    documents: int


def diagnose(
    around: Surroundings,
    view: HostView,
    *,
    workspace_named: str | None = None,
    in_every_way: bool = False,
    engine: str = NATIVE,
) -> Diagnosis:
    """Looks at everything once, and with `in_every_way` attacks other boxes than the usual.

    The box is one of `engine`. Raises only for a workspace that was named and cannot be used.
    """
    status = take_status(around, view, workspace_named=workspace_named)
    concerns = [*status.concerns]
    ledger, ledger_concerns = _ledger(around)
    documents = list(_documents(status.configuration))
    engines = try_engines(
        around, (engine,), in_every_way=in_every_way, workspace_named=workspace_named
    )
    for found in (ledger_concerns, *(_wrong_with(*each) for each in documents)):
        concerns += found
    for each in engines.tried:
        concerns += _missing(each.probe)
    concerns += [_not_here(*each) for each in engines.missing]
    return Diagnosis(
        engines=engines,
        concerns=tuple(dict.fromkeys(concerns)),
        advice=tuple(line for each in engines.tried for line in _advice(each.probe)),
        ledger=ledger,
        documents=len(documents),
    )


def broken_promises(engines: EnginesReport) -> tuple[Concern, ...]:
    """Every attack that reached its goal in an engine that promised to stop it."""
    return tuple(concern for each in engines.tried for concern in _broken(each))


def diagnosis_document(diagnosis: Diagnosis, *, with_attacks: bool) -> dict[str, object]:
    """The diagnosis as JSON values, without the two keys that every document begins with."""
    concerns = list(diagnosis.concerns)
    if with_attacks:
        concerns += broken_promises(diagnosis.engines)
    return {
        "ok": not concerns,
        "ledger": diagnosis.ledger,
        "documents": diagnosis.documents,
        "problems": [
            {"code": str(each.code), "message": each.message, "help": each.help_line}
            for each in concerns
        ],
        "advice": list(diagnosis.advice),
        "attacks": [
            {
                "engine": each.probe.engine,
                "way": tried.way.value,
                "rows": None if tried.card is None else [row.to_json() for row in tried.card.rows],
                "why": tried.why or None,
            }
            for each in diagnosis.engines.tried
            for tried in each.cards
        ]
        if with_attacks
        else None,
    }


def _ledger(around: Surroundings) -> tuple[str, list[Concern]]:
    try:
        history = ledger_for_reading(around)
    except ConsentryError as problem:
        return "cannot be read", [Concern.from_error(problem)]
    if history is None:
        return "nothing was recorded yet", []
    history.database.close()
    return "can be read", []


def _documents(configuration: Configuration) -> Iterator[tuple[Path, str]]:
    """Only the user's own count before they are used; a workspace's are a stranger's."""
    for folder in configuration.folders:
        if folder.trust is Trust.OWN and not folder.concerns:
            for name in folder.files:
                yield folder.path, name


def _wrong_with(folder: Path, name: str) -> list[Concern]:
    file = str(folder / name)
    try:
        read_any(DocumentKind.of(name), read_named(file), file)
    except BadDocument as problem:
        return [Concern(each.code, each.said, each.help_line) for each in problem.problems]
    except ConsentryError as problem:
        return [Concern.from_error(problem)]
    return []


def _missing(probe: Probe) -> Iterator[Concern]:
    if not probe.is_usable:
        why = probe.lacking[0]
        message = f"`{probe.engine}` can make no box here: {why.why}"
        yield Concern.about(Code.ENGINE_FAILED, message, why.remedy or None)
        return
    # What another engine has no means for is no fault of this host.
    for each in probe.lacking if probe.engine == NATIVE else ():
        message = f"`{probe.engine}` does not hold `{each.control}`: {each.why}"
        yield Concern.about(Code.NOT_ENFORCEABLE, message, each.remedy or None)


def _not_here(name: str, why: str) -> Concern:
    help_line = "install it, or name another with --engine"
    return Concern.about(Code.NOT_ENFORCEABLE, f"the engine `{name}` is not here: {why}", help_line)


def _advice(probe: Probe) -> Iterator[str]:
    watched = [
        each.control.value
        for each in probe.held
        if each.control in _LIMITS and each.truth is Truth.OBSERVED
    ]
    if watched:
        yield (
            f"{' and '.join(watched)}: `{probe.engine}` looks every few milliseconds and ends what "
            "is over its limit; where this user may make control groups, the kernel does that "
            "(systemd: run it in a unit with Delegate=yes)"
        )


def _broken(tried: TriedEngine) -> Iterator[Concern]:
    for each in tried.cards:
        name = f"`{tried.probe.engine}`" + _OTHERWISE[each.way]
        said = [each.why] if each.is_wrong else []
        broken = () if each.card is None else each.card.broken
        said += [f"a program could {row.what}: {row.said}" for row in broken]
        for line in said:
            yield Concern.about(
                Code.NOT_ENFORCEABLE,
                f"in {name} {line}",
                "run nothing untrusted in it on this host, and report it",
            )
