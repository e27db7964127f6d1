"""Reads what a host program gives: JSON objects whose keys are mostly optional, strictly.

A key that is not known is refused with its name, and with the one that was probably meant: a slip in
`permissionSet` must not run code in another set than was meant. `None` counts as not given.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NoReturn, TypeVar

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.nearest import closest

Member = TypeVar("Member", bound=StrEnum)


class Given:
    """One object; `place` is what its fields are named after, where it is part of another."""

    def __init__(
        self,
        document: object,
        names: tuple[str, ...],
        *,
        place: str = "",
        code: Code = Code.DOCUMENT_INVALID,
    ) -> None:
        self._code, self._place = code, place
        if not isinstance(document, Mapping):
            raise BadInput(code, "this is not an object", where=Where(field=place or None))
        for name in document:
            if name not in names:
                self._refuse_unknown(name, names)
        self._values = {name: document[name] for name in names if document.get(name) is not None}

    def _refuse_unknown(self, name: object, names: tuple[str, ...]) -> NoReturn:
        nearest = closest(str(name), names)
        known = f"known are {', '.join(names)}"
        help_line = known if nearest is None else f"did you mean `{nearest}`?"
        where = Where(field=self._named(str(name)))
        raise BadInput(self._code, "there is no such field", where=where, help_line=help_line)

    def _named(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name

    def refuse(self, name: str, message: str, help_line: str | None = None) -> NoReturn:
        """Raises, naming the field."""
        where = Where(field=self._named(name))
        raise BadInput(self._code, message, where=where, help_line=help_line)

    def value(self, name: str) -> object:
        """Whatever was given; None where nothing was."""
        return self._values.get(name)

    def required(self, name: str) -> str:
        """A text that has to be there."""
        found = self.text(name)
        if found is None:
            self.refuse(name, "the field is missing")
        return found

    def text(self, name: str) -> str | None:
        """A text, if one was given."""
        found = self._values.get(name)
        if found is not None and not isinstance(found, str):
            self.refuse(name, "this is not a text")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; none where nothing was given."""
        found = self._values.get(name, ())
        if not isinstance(found, list | tuple):
            self.refuse(name, "this is not a list")
        for index, each in enumerate(found):
            if not isinstance(each, str):
                self.refuse(f"{name}[{index}]", "this is not a text")
        return tuple(found)

    def flag(self, name: str) -> bool:
        """A yes or a no that has to be there."""
        found = self._values.get(name)
        if found is None:
            self.refuse(name, "the field is missing")
        if not isinstance(found, bool):
            self.refuse(name, "this is neither true nor false")
        return found

    def member(self, name: str, kind: type[Member]) -> Member | None:
        """One of the words that are known, if one was given."""
        found = self.text(name)
        if found is None:
            return None
        try:
            return kind(found)
        except ValueError:
            self.refuse(name, f"`{found}` is not one of {', '.join(kind)}")

    def object(self, name: str) -> Mapping[str, object]:
        """An object with texts for keys; empty where nothing was given."""
        found = self._values.get(name, {})
        if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
            self.refuse(name, "this is not an object with texts for keys")
        return dict(found)
