"""The broker: the only way from a command's handler to what a module was granted (MODULES §limit).

A module brings no code. What runs is the host's own handler, on the module's behalf, and all that it gets
of the module and may do for it is a `ModuleCall`:

    payload, context    what the binding carries: frozen data, never evaluated
    arguments           what the person gave it in this call, from the host
    state()             an immutable snapshot                    state.read
    storage             the module's own keys, and no others     module.storage.local
    export(content)     to the file the user chose for this one  export.user.file
    write(operations)   into the transaction of this action      state.write.tx

Each is there only if the command declares the capability, and is asked of the gate again in the moment of
its use, so that a grant that is revoked in the middle of an action ends it there. What a command did not
declare is `capability-policy-violation`, also when the module was granted it: the capability was cleared
for what the person saw, not for this. A handler that swallows the refusal, or makes another error of it,
does not get away with it: the action is rejected when it returns. A call that is kept beyond its end is
worth nothing.

Lasting changes go through transactions and nothing else: `write` changes nothing, it adds operations to the
one transaction of the action, which is previewed, decided and applied as a whole when its commands have
ended. An operation outside of what the command says it changes is `capability-policy-violation`.

Not promised: confinement of the handler. It is the host's code in the host's process.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NoReturn, Protocol

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.frozenjson import frozen
from consentry.base.values import dataclass, field
from consentry.decide.capabilitycheck import RejectCode, Rejection
from consentry.decide.moduleregistration import ActionRun
from consentry.decide.statechange import WantedOperations, pointer, read_operations
from consentry.declare.hostdescription import CommandDeclaration
from consentry.declare.requiredcapabilities import WRITES
from consentry.declare.statepaths import PathSet
from consentry.enforce.moduleexport import ExportReceipt, ExportTarget

READS: Final = "state.read"
STORES: Final = "module.storage.local"
EXPORTS: Final = "export.user.file"

_MOST_SHOWN: Final = 200


class CapabilityRejected(Refused):
    """An action that the capability policy refuses; `rejection` has the document's own code."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(Code.CAPABILITY_REJECTED, f"{rejection.code}: {rejection.why}")
        self.rejection = rejection


def violation(capability_id: str, why: str) -> CapabilityRejected:
    """What breaks a rule of the moment, whatever was granted."""
    return CapabilityRejected(Rejection(RejectCode.POLICY_VIOLATION, capability_id, why))


class Gate(Protocol):
    """Asked again in the moment of every use; raises `CapabilityRejected` where it does not hold."""

    def require(self, run: ActionRun, capability_id: str) -> None:
        """Raises unless the capability still holds for this action."""
        ...


class Storage(Protocol):
    """The keys of the one module it was made for."""

    def get(self, key: str) -> Json:
        """The value, frozen; None where there is none."""
        ...

    def put(self, key: str, value: Json) -> None:
        """Keeps it; durable and recorded when this returns."""
        ...

    def remove(self, key: str) -> None:
        """Forgets it."""
        ...

    def keys(self) -> tuple[str, ...]:
        """All that the module keeps, sorted."""
        ...


@dataclass(frozen=True, slots=True)
class Powers:
    """What the host has to offer behind the gate, for one run of one action.

    `wanted` gathers the operations that its commands ask for, in their order.
    """

    snapshot: Callable[[], object]
    storage: Storage
    export: Callable[[ExportTarget, bytes], ExportReceipt]
    wanted: WantedOperations = field(default_factory=WantedOperations)


class GatedStorage:
    """The storage of a module as a handler sees it: every use asks first."""

    __slots__ = ("_call", "_storage")

    def __init__(self, call: "ModuleCall", storage: Storage) -> None:
        self._call = call
        self._storage = storage

    def get(self, key: str) -> Json:
        """The value of a key; None where there is none."""
        self._call.require(STORES)
        return self._storage.get(key)

    def put(self, key: str, value: Json) -> None:
        """Keeps a JSON-safe value under a key."""
        self._call.require(STORES)
        with self._call.noting():
            self._storage.put(key, value)

    def remove(self, key: str) -> None:
        """Forgets a key; one that is not there is no error."""
        self._call.require(STORES)
        with self._call.noting():
            self._storage.remove(key)

    def keys(self) -> tuple[str, ...]:
        """All keys of the module."""
        self._call.require(STORES)
        return self._storage.keys()


class ModuleCall:
    """One call of one command for one action of a module; all that its handler gets."""

    __slots__ = (
        "_command",
        "_gate",
        "_is_over",
        "_powers",
        "_target",
        "arguments",
        "context",
        "payload",
        "refusal",
        "run",
    )

    def __init__(
        self,
        run: ActionRun,
        command: CommandDeclaration,
        gate: Gate,
        powers: Powers,
        *,
        payload: Json = None,
        context: Json = None,
        arguments: Json = None,
        target: ExportTarget | None = None,
    ) -> None:
        self.run = run
        self.arguments = frozen(arguments)
        self.payload = frozen(payload)
        self.context = frozen(context)
        self.refusal: ConsentryError | None = None
        self._is_over = False
        self._command = command
        self._gate = gate
        self._powers = powers
        self._target = target

    @property
    def module_id(self) -> str:
        """The module on whose behalf it is called."""
        return self.run.module.module_id

    @property
    def command_id(self) -> str:
        """The command that is called."""
        return self._command.command_id

    def state(self) -> Json:
        """What the host's state is now, as data that nothing can change."""
        self.require(READS)
        return frozen(self._powers.snapshot())

    @property
    def storage(self) -> GatedStorage:
        """The module's own keys and values."""
        return GatedStorage(self, self._powers.storage)

    def export(self, content: bytes | str) -> ExportReceipt:
        """Writes the file that the user chose for this export, once."""
        self.require(EXPORTS)
        if self._target is None:
            self._refuse(EXPORTS, "the user chose no target for this export")
        given = content.encode() if isinstance(content, str) else content
        with self.noting():
            return self._powers.export(self._target, given)

    def write(self, operations: Json) -> None:
        """Adds operations to the transaction of this action; nothing is changed before it is applied.

        `[{"op": "replace", "path": "/notes/n1/text", "value": "…"}]`: `add`, `remove`, `replace`, `move`.
        """
        self.require(WRITES)
        command = self._command
        if not command.mutation_scope.is_lasting:
            self._refuse(WRITES, f"`{self.command_id}` changes nothing that lasts")
        asked = read_operations(operations, command.mutation_scope.value)
        mutates = PathSet(command.mutates)
        for each in asked:
            ways = (each.path, *([] if each.source is None else [pointer(each.source)]))
            if not all(map(mutates.covers, ways)) or each.scope != command.mutation_scope.value:
                shown = " and ".join(ways)[:_MOST_SHOWN]
                self._refuse(WRITES, f"`{self.command_id}` does not say that it changes `{shown}`")
        self._powers.wanted.add(asked)

    @property
    def _declared(self) -> tuple[str, ...]:
        """What the command takes: what it names, and what follows from its scope."""
        command = self._command
        lasts = (WRITES,) if command.mutation_scope.is_lasting else ()
        return (*command.capabilities, *lasts)

    def require(self, capability_id: str) -> None:
        """Raises unless the command declares this capability, and it holds in this moment."""
        if self.refusal is not None:
            raise self.refusal
        if self._is_over:
            raise violation(capability_id, f"this call of `{self.command_id}` is over")
        if capability_id not in self._declared:
            why = f"`{self.command_id}` does not declare `{capability_id}`"
            self._refuse(capability_id, why)
        with self.noting():
            self._gate.require(self.run, capability_id)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Remembers what the gate refuses inside the block: the grant, or the module itself, is gone."""
        try:
            yield
        except (CapabilityRejected, UsageProblem) as refusal:
            self.refusal = refusal
            raise

    def end(self) -> None:
        """Nothing can be done with it from here on."""
        self._is_over = True

    def _refuse(self, capability_id: str, why: str) -> NoReturn:
        self.refusal = violation(capability_id, why)
        raise self.refusal
