"""A place in the code that an effect is asked about: a call with its arguments, or a name without any."""

import ast

from consentry.examine.knowledge.effects import Argument
from consentry.examine.python.items import resolved_items
from consentry.examine.python.resolves import Resolves
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import Instance, Items, Value


class Place:
    """A call with its arguments; a name or an import has none, and what they would say is computed."""

    __slots__ = ("call", "owner", "resolver", "scope")

    def __init__(
        self, resolver: Resolves, scope: Scope, call: ast.Call | None, owner: Instance | None = None
    ) -> None:
        self.resolver = resolver
        self.scope = scope
        self.call = call
        self.owner = owner
        """The object whose method is called."""

    def given(self, argument: Argument) -> tuple[bool, Value]:
        """Whether the argument is there, and what it may be."""
        if argument.is_self:
            return self.owner is not None, None if self.owner is None else self.owner.path
        if self.call is None:
            return True, None
        arguments = self.call.args
        if any(isinstance(each, ast.Starred) for each in arguments[: (argument.position or 0) + 1]):
            return True, None
        if argument.position is not None and argument.position < len(arguments):
            return True, self.resolver.resolve(arguments[argument.position], self.scope)
        for keyword in self.call.keywords:
            if keyword.arg is None:
                return True, None
            if keyword.arg == argument.keyword:
                return True, self.resolver.resolve(keyword.value, self.scope)
        return False, None

    def words(self, argument: Argument) -> list[Value] | None:
        """The values of an argument that is a list written out."""
        _, value = self.given(argument)
        return resolved_items(self.resolver, value) if isinstance(value, Items) else None
