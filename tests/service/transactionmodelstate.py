"""What the model of transactions holds: who may do what, the document with its log, attempts and their keys.

What befalls the document store is put into `failing` (which commit or settling from now, how, and whether for
good) and `break_in` (which commit, at which of its asks, and what happens then).
"""

from collections.abc import Callable, Generator
from typing import Any, Final, TypeAlias

from tests.service.transactionboard import SETTINGS, TERMS
from tests.service.transactionstrokes import SLOW

Steps: TypeAlias = Generator[None, None, tuple[Any, ...]]
Looking: TypeAlias = Generator[None, None, dict[str, Any]]
Entity: TypeAlias = tuple[str, str]

TTL: Final = TERMS.ttl_seconds * 1000
LEASE: Final = TERMS.lease.milliseconds
LIMIT: Final = TERMS.recovery.milliseconds
DEADLINE: Final = SETTINGS.parked_deadline.milliseconds
UNDER_WAY: Final = ("APPLYING", "ROLLBACK_PENDING")
UNSETTLED: Final = (*UNDER_WAY, "RECOVERY_PENDING")
COMMITTED: Final = ("APPLIED", "ROLLBACK_PENDING", "ROLLED_BACK")
CAME_TO_NOTHING: Final = ("FAILED_PRE_APPLY", "REJECTED")


class Raised(Exception):
    """What the operation is refused with."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Overtaken(Exception):
    """Somebody else changed it meanwhile."""


class Unanswered(Exception):
    """A store that does not say what became of it."""


class Refused(Exception):
    """What the store or the watch refuses; `is_violation` where writes had begun."""

    def __init__(self, *, is_violation: bool) -> None:
        super().__init__()
        self.is_violation = is_violation


class GivenUp(Exception):
    """The key was settled before."""


class ModelState:
    """All that there is."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.mode = "normal"
        self.version: str | None = None
        self.granted: str | None = None
        self.stamp = 0
        self.entities: dict[Entity, Any] = {}
        self.revision: Any = "none"
        self.log: dict[tuple[Any, ...], str] = {}
        self.transactions: list[list[dict[str, Any]]] = []
        self.keys: dict[tuple[str, str], tuple[int, int]] = {}
        self.blocks: set[tuple[int, int]] = set()
        self.failing: tuple[int, str, bool] | None = None
        self.break_in: tuple[int, int, Callable[[], None]] | None = None
        self.living: set[Any] = set()

    # What changes who may do what; in the middle of nothing.

    def import_version(self, version: str) -> tuple[Any, ...]:
        """Another version ends what was granted, and what still waits."""
        if version != self.version:
            self._outdate()
            if self.granted != version:
                self.granted = None
        self.version = version
        self.stamp += 1
        return ("imported",)

    def remove(self) -> tuple[Any, ...]:
        """The module goes, with its grants."""
        if self.version is None:
            return ("removed", False)
        self._outdate()
        self.version = self.granted = None
        self.stamp += 1
        return ("removed", True)

    def set_mode(self, mode: str) -> tuple[Any, ...]:
        """The operator's switch."""
        self.mode = mode
        self.stamp += 1
        return ("mode",)

    def grant(self, version: str) -> tuple[Any, ...]:
        """Somebody gives it."""
        if self.granted != version:
            self.granted = version
            self.stamp += 1
        return ("granted",)

    def revoke(self) -> tuple[Any, ...]:
        """Somebody takes it back."""
        had = self.granted is not None
        if had:
            self.granted = None
            self.stamp += 1
        return ("revoked", int(had))

    def _outdate(self) -> None:
        for attempts in self.transactions:
            if attempts[-1]["state"] == "APPROVAL_PENDING" and attempts[-1]["module"] is not None:
                self._end(attempts[-1], "superseded")

    def _previewed(self, tx: int, number: int, made: dict[str, Any]) -> dict[str, Any]:
        """An attempt that has just been made, as it will be kept."""
        operations, ruled, module = made["operations"], made["ruled"], made["module"]
        attempt: dict[str, Any] = {
            "tx": tx,
            "no": number,
            "operations": operations,
            "ruled": ruled,
            "module": module,
            "state": "FAILED_PRE_APPLY",
            "version": 0,
            "created": self.now,
            "base": None,
            "writes": (),
            "question": None,
            "deadline": None,
            "approved_at": None,
            "tries": 0,
            "apply_key": None,
            "rollback_key": None,
            "violation": False,
            "worker": None,
            "recover_by": None,
        }
        writes = self._worked_out(operations)
        if writes is None or not self._may_touch(module, operations):
            return attempt
        attempt.update(base=self.revision, writes=writes)
        if ruled:
            deadline = self.now + DEADLINE
            attempt.update(state="APPROVAL_PENDING", question="pending", deadline=deadline)
        else:
            attempt.update(state="APPROVED", approved_at=self.now)
        return attempt

    def _worked_out(self, operations: list[dict[str, Any]]) -> tuple[Any, ...] | None:
        """Each touched entity before and after; None where something does not fit."""
        entities = dict(self.entities)
        touched = dict[Entity, Any]()
        for each in operations:
            _, kind, name = each["path"].split("/")
            entity = (kind, name)
            if (entity in entities) is (each["op"] == "add"):
                return None
            touched.setdefault(entity, entities.get(entity))
            if each["op"] == "remove":
                del entities[entity]
            else:
                entities[entity] = each["value"]
        return tuple(
            (entity, before, entities.get(entity))
            for entity, before in sorted(touched.items())
            if before != entities.get(entity)
        )

    @property
    def may_act(self) -> bool:
        """Whether the module that is registered may do what it asks for."""
        return self.version is not None and self._may(self.version)

    def _may(self, module: str | None) -> bool:
        """Whether nothing stands against what that version of the module does."""
        is_granted = self.granted == self.version == module
        return module is None or (is_granted and self.mode == "normal")

    def _may_touch(self, module: str | None, operations: list[dict[str, Any]]) -> bool:
        inside = all(each["path"].startswith("/notes/") for each in operations)
        return self._may(module) and (inside or module is None)

    def _look_at_question(self, tx: int, number: int) -> Generator[None, None, None]:
        """Everything that nobody answered in time ends at once, where one of it is looked at."""
        attempt = self.transactions[tx][number - 1]
        while attempt["question"] == "pending" and self.now > attempt["deadline"]:
            overdue = self._overdue()
            yield
            if overdue == self._overdue():
                for each in overdue:
                    self._end(self.transactions[each[0]][each[1] - 1], "expired")
            attempt = self.transactions[tx][number - 1]

    def _overdue(self) -> list[tuple[int, int]]:
        return [
            (each[-1]["tx"], each[-1]["no"])
            for each in self.transactions
            if each[-1]["question"] == "pending" and self.now > each[-1]["deadline"]
        ]

    def _require_open(self, attempt: dict[str, Any], *, is_first: bool) -> None:
        match attempt["question"]:
            case "expired":
                raise Raised("request-late")
            case "superseded" if is_first:
                raise Raised("approval-superseded")
            case "pending":
                return
        raise Raised("request-settled")

    def _end(self, attempt: dict[str, Any], how: str, now: int = 0) -> None:
        """A question ends, and what it is about with it."""
        attempt["question"] = how
        attempt["version"] += 1
        match how:
            case "approved":
                attempt.update(state="APPROVED", approved_at=now)
            case "superseded":
                attempt["state"] = "FAILED_PRE_APPLY"
            case _:
                attempt["state"] = "REJECTED"

    # The document.

    def _commit(
        self,
        key: tuple[Any, ...],
        base: Any,
        writes: tuple[Any, ...],
        watched: dict[str, Any] | None,
    ) -> Generator[None, None, bool]:
        """Whether it was done; raises what the store raises."""
        yield
        how = self._befalls()
        ask, act = self._breaks_in()
        module = None if watched is None else watched["module"]
        if how == "before":
            raise Unanswered
        if ask == 1:
            act()
        if not self._may(module):
            raise Refused(is_violation=False)
        if how == "yes":
            return False
        if self.log.get(key) == "given-up":
            raise GivenUp
        if self.log.get(key) is None and self.revision != base:
            raise Refused(is_violation=False)
        if 1 < ask <= len(writes) + 1:
            act()
            if not self._may(module):
                raise Refused(is_violation=True)
        self._write(key, writes)
        if how == "after":
            raise Unanswered
        if how == "no":
            raise Refused(is_violation=False)
        self._slow(how)
        return True

    def _write(self, key: tuple[Any, ...], writes: tuple[Any, ...]) -> None:
        self.log[key] = key[2]
        self.revision = key[:3]
        for entity, _, after in writes:
            self.entities.pop(entity, None)
            if after is not None:
                self.entities[entity] = after

    def _settling(self, key: tuple[Any, ...]) -> Generator[None, None, bool]:
        yield
        return self._settle(key)

    def _settle(self, key: tuple[Any, ...]) -> bool:
        how = self._befalls(is_commit=False)
        if how == "before":
            raise Unanswered
        found = self.log.setdefault(key, "given-up") != "given-up"
        if how == "after":
            raise Unanswered
        self._slow(how)
        return found

    def _befalls(self, *, is_commit: bool = True) -> str:
        if self.failing is None:
            return ""
        left, how, is_lasting = self.failing
        after = (0, "before", True) if is_lasting else None
        self.failing = after if left == 0 else (left - 1, how, is_lasting)
        return how if left == 0 and (is_commit or how not in ("yes", "no")) else ""

    def _breaks_in(self) -> tuple[int, Callable[[], None]]:
        if self.break_in is None:
            return 0, lambda: None
        left, ask, act = self.break_in
        self.break_in = None if left == 0 else (left - 1, ask, act)
        return (ask, act) if left == 0 else (0, act)

    def _slow(self, how: str) -> None:
        if how == "slow":
            self.now += SLOW.milliseconds

    def _is_as_left(self, attempt: dict[str, Any]) -> bool:
        return all(self.entities.get(entity) == after for entity, _, after in attempt["writes"])

    # Attempts.

    def _latest(self, tx: int) -> dict[str, Any]:
        return dict(self.transactions[tx][-1])

    def _put(self, attempt: dict[str, Any], steps: int = 1) -> dict[str, Any]:
        """Keeps it, unless somebody changed it meanwhile."""
        kept = self.transactions[attempt["tx"]][attempt["no"] - 1]
        if kept["version"] != attempt["version"]:
            raise Overtaken
        kept.update(attempt, version=attempt["version"] + steps)
        return dict(kept)

    def _put_or_look(self, attempt: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._put(attempt)
        except Overtaken:
            return dict(self.transactions[attempt["tx"]][attempt["no"] - 1])

    def _take_key(self, kind: str, key: str, attempt: dict[str, Any]) -> None:
        mine = (attempt["tx"], attempt["no"])
        tx, number = self.keys.get((kind, key), mine)
        is_free = self.transactions[tx][number - 1]["state"] in CAME_TO_NOTHING
        if (tx, number) != mine and not is_free:
            raise Raised("tx-key")
        kept = self.transactions[attempt["tx"]][attempt["no"] - 1]
        if kept["version"] != attempt["version"]:
            raise Overtaken
        self.keys[kind, key] = mine

    def _is_working(self, who: Any, worker: Any) -> bool:
        if worker is None or self.now >= worker[1]:
            return False
        (_, machine), (process, its_machine) = who, worker[0]
        return machine != its_machine or process in self.living


def key_of(attempt: dict[str, Any]) -> tuple[Any, ...]:
    """The key of the commit that is under way; its first three are the revision that it leads to."""
    kind = "apply" if attempt["rollback_key"] is None else "rollback"
    return (attempt["tx"], attempt["no"], kind, attempt["tries"])


def undone(attempt: dict[str, Any]) -> tuple[Any, ...]:
    """What takes its writes back."""
    return tuple((entity, after, before) for entity, before, after in attempt["writes"])
