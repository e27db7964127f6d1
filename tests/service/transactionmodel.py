"""Transactions of one document as a few plain dictionaries: the model that the product is held against.

Every operation is a generator. It does in one go what the product does in one effect, and yields before each:
an append to the ledger, a commit, a settling. So the other program can act in between, or the one that it is
can be ended there. An attempt that an operation looked at is a copy; where it was changed meanwhile, putting it
back raises `Overtaken`, as in the product.
"""

from collections.abc import Generator
from contextlib import suppress
from typing import Any, Final

from tests.service.transactionmodelstate import (
    COMMITTED,
    LEASE,
    LIMIT,
    TTL,
    UNDER_WAY,
    UNSETTLED,
    GivenUp,
    Looking,
    ModelState,
    Overtaken,
    Raised,
    Refused,
    Steps,
    Unanswered,
    key_of,
    undone,
)

_MOST_TRIES: Final = 16


class Model(ModelState):
    """All that there is, and what is done with it."""

    def propose(
        self,
        version: str | None,
        is_ruled: bool,  # noqa: FBT001 - drawn as it is
        operations: list[dict[str, Any]],
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

    def answer(self, tx: int, is_yes: bool) -> Steps:  # noqa: FBT001 - drawn as it is
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
        """Ends a block, once the store has said for good what became of the commit."""
        attempt = self._latest(tx)
        place = (tx, attempt["no"])
        if place not in self.blocks:
            raise Raised("tx-state")
        try:
            yield from self._settling(key_of(attempt))
        except Unanswered:
            raise Raised("tx-unsettled") from None
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
            is_done = yield from self._commit(key_of(begun), begun["base"], begun["writes"], begun)
        except Refused as refused:
            is_there = self.revision == key_of(begun)[:3]
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
        return (yield from self._noted(who, begun, is_done=is_done))

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
                is_done = yield from self._commit(key_of(begun), base, undone(begun), None)
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
        return (yield from self._noted(who, begun, is_done=is_done))

    def _noted(self, who: Any, begun: dict[str, Any], *, is_done: bool) -> Looking:
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
            with suppress(Unanswered):
                self._settle(key_of(begun))
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
        is_there = yield from self._settling(key_of(attempt))
        if attempt["rollback_key"] is not None:
            if is_there:
                if self.revision != key_of(attempt)[:3]:
                    yield from self._settling(key_of(attempt))
                return (yield from self._ended(attempt, "ROLLED_BACK"))
            if attempt["violation"]:
                return (yield from self._undo(attempt))
            return (yield from self._ended({**attempt, "rollback_key": None}, "APPLIED"))
        if is_there:
            if self.revision != key_of(attempt)[:3]:
                yield from self._settling(key_of(attempt))
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
        if not (yield from self._commit(key_of(attempt), self.revision, undone(attempt), None)):
            raise Unanswered
        return (yield from self._ended(attempt, "ROLLED_BACK"))

    def _ended(self, attempt: dict[str, Any], state: str) -> Looking:
        yield
        ended = self._put({**attempt, "state": state, "recover_by": None, "worker": None})
        if state == "FAILED_TERMINAL":
            self.blocks.add((ended["tx"], ended["no"]))
        return ended


def told(attempt: dict[str, Any]) -> tuple[Any, ...]:
    """What is said of an attempt."""
    return ("attempt", attempt["no"], attempt["state"])


def _require_idle(attempt: dict[str, Any], wanted: str) -> None:
    state = attempt["state"]
    if state in UNDER_WAY:
        raise Raised("tx-in-flight")
    if state == "RECOVERY_PENDING":
        raise Raised("tx-unsettled")
    if state != wanted:
        raise Raised("tx-state")
