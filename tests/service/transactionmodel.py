"""Transactions of one document as a few plain dictionaries: the model that the product is held against.

Every operation is a generator. It does in one go what the product does in one effect, and yields before each:
an append to the ledger, a commit, a settling. So the other program can act in between, or the one that it is
can be ended there. An attempt that an operation looked at is a copy; where it was changed meanwhile, putting it
back raises `Overtaken`, as in the product.

What befalls a document store is put into `failing` (which commit or settling from now, how, and whether for good) and `break_in`
(which commit, at which of its asks, and what happens then).
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
_MOST_TRIES: Final = 16


class Raised(Exception):
    """What the operation is refused with."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Overtaken(Exception):
    """Somebody else changed it meanwhile."""


class Unanswered(Exception):
    """A store that does not say what became of it."""


class Model:
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

    # Transactions.

    def propose(
        self, version: str | None, is_ruled: bool, operations: list[dict[str, Any]]
    ) -> Steps:
        """Previewed at once, and approved at once where nobody has to look."""
        made = {"module": version, "ruled": is_ruled, "operations": operations}
        attempt = self._previewed(len(self.transactions), 1, made)
        yield
        attempt["tx"] = len(self.transactions)
        self.transactions.append([attempt])
        return told(attempt)

    def preview_again(self, tx: int) -> Steps:
        """The next attempt."""
        failed = self._latest(tx)
        if failed["state"] != "FAILED_PRE_APPLY":
            raise Raised("tx-state")
        attempt = self._previewed(tx, failed["no"] + 1, failed)
        yield
        try:
            self._put(failed)
        except Overtaken:
            raise Raised("tx-state") from None
        self.transactions[tx].append(attempt)
        return told(attempt)

    def answer(self, tx: int, is_yes: bool) -> Steps:
        """The first answer in time counts."""
        number = self._latest(tx)["no"]
        yield from self._look_at_question(tx, number)
        attempt = self.transactions[tx][number - 1]
        if attempt["question"] is None:
            raise Raised("id-unknown")
        self._require_open(attempt, is_first=True)
        now = self.now
        yield
        attempt = self.transactions[tx][number - 1]
        self._require_open(attempt, is_first=False)
        self._end(attempt, "approved" if is_yes else "denied", now)
        return ("answered", attempt["question"])

    def reject(self, tx: int) -> Steps:
        """A no to what waits, or the end of what failed."""
        attempt = self._latest(tx)
        if attempt["state"] == "APPROVAL_PENDING":
            yield from self.answer(tx, is_yes=False)
            return told(self._latest(tx))
        if attempt["state"] != "FAILED_PRE_APPLY":
            raise Raised("tx-state")
        yield
        try:
            return told(self._put({**attempt, "state": "REJECTED"}))
        except Overtaken:
            return told(self._latest(tx))

    def look(self, who: Any, tx: int) -> Steps:
        """As it stands, after settling what can be settled."""
        attempt = self._latest(tx)
        if attempt["state"] == "APPROVAL_PENDING" and attempt["question"] is not None:
            yield from self._look_at_question(tx, attempt["no"])
            return told(self._latest(tx))
        return told((yield from self._settled(who, attempt)))

    def settle_all(self, who: Any) -> Steps:
        """Everything that nobody works on any more, the newest first."""
        found = [each[-1] for each in self.transactions if each[-1]["state"] in UNSETTLED]
        for each in sorted(found, key=lambda each: (-each["created"], -each["tx"])):
            yield from self._settled(who, dict(each))
        return ("settled",)

    def resolve(self, tx: int) -> Steps:
        """Ends a block."""
        place = (tx, self._latest(tx)["no"])
        yield
        if place not in self.blocks:
            raise Raised("tx-state")
        self.blocks.remove(place)
        return ("resolved",)

    def apply(self, who: Any, tx: int, key: str | None) -> Steps:
        """Once for its key."""
        for _ in range(_MOST_TRIES):
            attempt = yield from self._settled(who, self._latest(tx))
            used = key or f"apply-{attempt['no']}-of-{tx}"
            if attempt["apply_key"] == used and attempt["state"] in COMMITTED:
                return told(attempt)
            _require_idle(attempt, "APPROVED")
            try:
                return told((yield from self._applied(who, attempt, used)))
            except Overtaken:
                continue
        raise AssertionError("the model goes round in circles")

    def roll_back(self, who: Any, tx: int, key: str | None) -> Steps:
        """Once for its key, where its entities are as it left them."""
        for _ in range(_MOST_TRIES):
            attempt = yield from self._settled(who, self._latest(tx))
            used = key or f"rollback-{attempt['no']}-of-{tx}"
            if attempt["state"] == "ROLLED_BACK" and attempt["rollback_key"] == used:
                return told(attempt)
            _require_idle(attempt, "APPLIED")
            try:
                return told((yield from self._rolled_back(who, attempt, used)))
            except Overtaken:
                continue
        raise AssertionError("the model goes round in circles")

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

    # Carrying out and taking back.

    def _applied(self, who: Any, attempt: dict[str, Any], key: str) -> Looking:
        worker = (who, self.now + LEASE)
        begun = {**attempt, "state": "APPLYING", "apply_key": key, "worker": worker}
        begun["tries"] += 1
        is_over = self.now >= attempt["approved_at"] + TTL
        is_refused = not is_over and not self._may(attempt["module"])
        stamp = self.stamp
        yield
        is_held = is_over or is_refused or attempt["module"] is None
        if not is_held and stamp != self.stamp:
            raise Overtaken
        if self.blocks:
            raise Raised("tx-blocked")
        self._take_key("apply", key, begun)
        if is_over or is_refused:
            return self._put({**begun, "state": "FAILED_PRE_APPLY", "worker": None}, steps=2)
        begun = self._put(begun)
        try:
            is_done = yield from self._commit(_key(begun), begun["base"], begun["writes"], begun)
        except Refused as refused:
            is_there = self.revision == _key(begun)[:3]
            if refused.is_violation:
                return (yield from self._violated(who, begun))
            if is_there:
                return (yield from self._unknown(who, begun))
            yield
            return self._put_or_look({**begun, "state": "FAILED_PRE_APPLY", "worker": None})
        except GivenUp:
            return dict(self.transactions[begun["tx"]][begun["no"] - 1])
        except Unanswered:
            return (yield from self._unknown(who, begun))
        return (yield from self._noted(who, begun, is_done))

    def _rolled_back(self, who: Any, attempt: dict[str, Any], key: str) -> Looking:
        worker = (who, self.now + LEASE)
        if not self._is_as_left(attempt):
            raise Raised("tx-conflict")
        begun = {**attempt, "state": "ROLLBACK_PENDING", "rollback_key": key, "worker": worker}
        begun["tries"] += 1
        yield
        self._take_key("rollback", key, begun)
        begun = self._put(begun)
        base, is_refused = self.revision, not self._is_as_left(attempt)
        is_done = False
        try:
            if not is_refused:
                is_done = yield from self._commit(_key(begun), base, _undone(begun), None)
        except Refused:
            is_refused = True
        except GivenUp:
            return dict(self.transactions[begun["tx"]][begun["no"] - 1])
        except Unanswered:
            return (yield from self._unknown(who, begun))
        if is_refused:
            after = yield from self._unknown(who, begun)
            if after["state"] == "APPLIED":
                raise Raised("tx-conflict")
            return after
        return (yield from self._noted(who, begun, is_done))

    def _noted(self, who: Any, begun: dict[str, Any], is_done: bool) -> Looking:
        """What the store says that it did is looked at, and then believed."""
        if not is_done and (yield from self._is_unknown_to_log(begun)):
            return (yield from self._unknown(who, begun))
        state = "APPLIED" if begun["state"] == "APPLYING" else "ROLLED_BACK"
        yield
        return self._put_or_look({**begun, "state": state, "worker": None})

    def _is_unknown_to_log(self, begun: dict[str, Any]) -> Generator[None, None, bool]:
        """Of what was not done; the log is asked where the document has moved on."""
        if begun["base"] != self.revision and begun["state"] == "APPLYING":
            yield
            self._settle(_key(begun))
        return True

    def _unknown(self, who: Any, begun: dict[str, Any]) -> Looking:
        held = {**begun, "state": "RECOVERY_PENDING", "worker": None}
        held["recover_by"] = self.now + LIMIT
        yield
        return (yield from self._settled(who, self._put_or_look(held)))

    def _violated(self, who: Any, begun: dict[str, Any]) -> Looking:
        held = {**begun, "state": "RECOVERY_PENDING", "worker": None, "violation": True}
        held["recover_by"] = self.now + LIMIT
        yield
        return (yield from self._settled(who, self._put_or_look(held)))

    def _settled(self, who: Any, attempt: dict[str, Any]) -> Looking:
        for _ in range(8):
            if attempt["state"] not in UNSETTLED:
                return attempt
            if attempt["state"] in UNDER_WAY and self._is_working(who, attempt["worker"]):
                return attempt
            try:
                return (yield from self._looked_into(attempt))
            except Overtaken:
                attempt = dict(self.transactions[attempt["tx"]][attempt["no"] - 1])
        return attempt

    def _looked_into(self, attempt: dict[str, Any]) -> Looking:
        if attempt["state"] in UNDER_WAY:
            held = {**attempt, "state": "RECOVERY_PENDING", "worker": None}
            held["recover_by"] = self.now + LIMIT
            yield
            attempt = self._put(held)
        try:
            return (yield from self._decided(attempt))
        except (Unanswered, Refused, GivenUp):
            pass
        attempt = dict(self.transactions[attempt["tx"]][attempt["no"] - 1])
        if attempt["state"] != "RECOVERY_PENDING" or self.now < attempt["recover_by"]:
            return attempt
        return (yield from self._ended(attempt, "FAILED_TERMINAL"))

    def _decided(self, attempt: dict[str, Any]) -> Looking:
        is_there = yield from self._settling(_key(attempt))
        if attempt["rollback_key"] is not None:
            if is_there:
                if self.revision != _key(attempt)[:3]:
                    yield from self._settling(_key(attempt))
                return (yield from self._ended(attempt, "ROLLED_BACK"))
            if attempt["violation"]:
                return (yield from self._undo(attempt))
            return (yield from self._ended({**attempt, "rollback_key": None}, "APPLIED"))
        if is_there:
            if self.revision != _key(attempt)[:3]:
                yield from self._settling(_key(attempt))
            if attempt["violation"]:
                return (yield from self._undo(attempt))
            return (yield from self._ended(attempt, "APPLIED"))
        is_over = attempt["violation"]
        return (yield from self._ended(attempt, "ROLLED_BACK" if is_over else "APPROVED"))

    def _undo(self, attempt: dict[str, Any]) -> Looking:
        """Takes back what took effect although it must not."""
        undoing = {**attempt, "rollback_key": f"undo-{attempt['tx']}"}
        undoing["tries"] += 1
        attempt = self._put(undoing)
        if not self._is_as_left(attempt):
            raise Unanswered
        if not (yield from self._commit(_key(attempt), self.revision, _undone(attempt), None)):
            raise Unanswered
        return (yield from self._ended(attempt, "ROLLED_BACK"))

    def _ended(self, attempt: dict[str, Any], state: str) -> Looking:
        yield
        ended = self._put({**attempt, "state": state, "recover_by": None, "worker": None})
        if state == "FAILED_TERMINAL":
            self.blocks.add((ended["tx"], ended["no"]))
        return ended

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
        self.log[key] = key[2]
        self.revision = key[:3]
        for entity, _, after in writes:
            self.entities.pop(entity, None)
            if after is not None:
                self.entities[entity] = after
        if how == "after":
            raise Unanswered
        if how == "no":
            raise Refused(is_violation=False)
        self._slow(how)
        return True

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
        if (tx, number) != mine:
            if self.transactions[tx][number - 1]["state"] not in CAME_TO_NOTHING:
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


class Refused(Exception):
    """What the store or the watch refuses; `is_violation` where writes had begun."""

    def __init__(self, *, is_violation: bool) -> None:
        super().__init__()
        self.is_violation = is_violation


class GivenUp(Exception):
    """The key was settled before."""


def told(attempt: dict[str, Any]) -> tuple[Any, ...]:
    """What is said of an attempt."""
    return ("attempt", attempt["no"], attempt["state"])


def _key(attempt: dict[str, Any]) -> tuple[Any, ...]:
    kind = "apply" if attempt["rollback_key"] is None else "rollback"
    return (attempt["tx"], attempt["no"], kind, attempt["tries"])


def _undone(attempt: dict[str, Any]) -> tuple[Any, ...]:
    return tuple((entity, after, before) for entity, before, after in attempt["writes"])


def _require_idle(attempt: dict[str, Any], wanted: str) -> None:
    state = attempt["state"]
    if state in UNDER_WAY:
        raise Raised("tx-in-flight")
    if state == "RECOVERY_PENDING":
        raise Raised("tx-unsettled")
    if state != wanted:
        raise Raised("tx-state")
