"""Rows of the tables that `decide`'s values are kept in.

A column has the name of the value's JSON field in snake case. Plain fields are columns as they are;
those with a structure are canonical JSON in one column. Reading a row makes the value again, with
all its checks, so that a row nobody here can have written is found out and not believed.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from consentry.base.canonical import Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.base.values import dataclass, field
from consentry.store.database import Database, Row, Transaction, Value

_CAPITAL = re.compile(r"[A-Z]")


class Keepable(Protocol):
    """A value that knows its JSON fields."""

    def to_json(self) -> dict[str, Json]:
        """The fields, each there."""
        ...


Kept = TypeVar("Kept", bound=Keepable)


class Overtaken(Exception):
    """Somebody else changed the row first; raised inside a change, and answered by looking again."""


class Lapsed(Exception):
    """A yes to what is not there any more; answered by superseding the request."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Table(Generic[Kept]):
    """One table: its fields in order, the first of which is the key, and how a value is read."""

    name: str
    fields: tuple[str, ...]
    structured: frozenset[str]
    read: Callable[[object], Kept]
    _columns: Mapping[str, str] = field(init=False)
    _listed: str = field(init=False)

    def __post_init__(self) -> None:
        columns = {name: f'"{_in_snake_case(name)}"' for name in self.fields}
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_listed", ", ".join(columns.values()))

    def insert(self, transaction: Transaction, value: Kept) -> None:
        """Adds the row; raises `Overtaken` when one is there that must be the only one."""
        marks = ", ".join("?" for _ in self.fields)
        into = f"INSERT INTO {self.name} ({self._listed})"
        statement = f"{into} VALUES ({marks}) ON CONFLICT DO NOTHING"
        if transaction.run(statement, self._values(value, self.fields)) != 1:
            raise Overtaken

    def update(
        self,
        transaction: Transaction,
        value: Kept,
        names: Sequence[str],
        only_if: str,
        parameters: Sequence[Value] = (),
    ) -> None:
        """Sets these fields of the row, if it still is as it was; raises `Overtaken` otherwise."""
        settings = ", ".join(f"{self._columns[name]} = ?" for name in names)
        where = f"{self._columns[self.fields[0]]} = ? AND ({only_if})"
        statement = f"UPDATE {self.name} SET {settings} WHERE {where}"  # noqa: S608 - no value in it
        values = self._values(value, (*names, self.fields[0]))
        if transaction.run(statement, (*values, *parameters)) != 1:
            raise Overtaken

    def find(self, database: Database, key: str) -> Kept | None:
        """The value of the row with this key."""
        found = self.select(database, f"{self._columns[self.fields[0]]} = ?", (key,))
        return found[0] if found else None

    def select(
        self, database: Database, where: str, parameters: Sequence[Value] = (), rest: str = ""
    ) -> list[Kept]:
        """The values of the rows that fit; `rest` is how they are ordered and limited."""
        statement = f"SELECT {self._listed} FROM {self.name} WHERE {where} {rest}"  # noqa: S608 - as above
        with database.reading() as view:
            return list(map(self._value, view.rows(statement, parameters)))

    def _values(self, value: Kept, names: Sequence[str]) -> tuple[Value, ...]:
        document = value.to_json()
        return tuple(self._stored(name, document[name]) for name in names)

    def _stored(self, name: str, value: Json) -> Value:
        if name in self.structured and value is not None:
            return canonical_json(value).decode()
        if value is None or isinstance(value, str):
            return value
        raise BadInput(Code.DECISION_FIELD, f"`{name}` is no text")

    def _value(self, row: Row) -> Kept:
        try:
            return self.read(
                dict(zip(self.fields, map(self._plain, self.fields, row), strict=True))
            )
        except (BadInput, ValueError, RecursionError) as problem:
            named = f"the row `{row[0]!s}` of `{self.name}`"
            raise LedgerProblem(
                Code.LEDGER_CORRUPT, f"{named} cannot be believed: {problem}"
            ) from problem

    def _plain(self, name: str, value: Value) -> object:
        if name in self.structured and value is not None:
            plain: object = json.loads(str(value))
            return plain
        return value


def exists(transaction: Transaction, query: str, parameters: Sequence[Value]) -> bool:
    """Whether a query has an answer."""
    found: Iterator[Row] = iter(transaction.rows(query, parameters))
    return next(found, None) is not None


def _in_snake_case(name: str) -> str:
    return _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)
