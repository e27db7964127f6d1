"""`Result`, for the few interfaces whose document returns one. Everything else raises."""

from typing import Generic, NoReturn, TypeVar

from consentry.base.values import dataclass

Value_co = TypeVar("Value_co", covariant=True)
Problem_co = TypeVar("Problem_co", bound=Exception, covariant=True)


@dataclass(frozen=True, slots=True)
class Ok(Generic[Value_co]):
    """It worked, and this came out."""

    value: Value_co

    def unwrap(self) -> Value_co:
        """The value; symmetrical with `Err.unwrap`, so that a caller may prefer exceptions."""
        return self.value


@dataclass(frozen=True, slots=True)
class Err(Generic[Problem_co]):
    """It did not work, and this is why."""

    problem: Problem_co

    def unwrap(self) -> NoReturn:
        """Raises the problem."""
        raise self.problem


Result = Ok[Value_co] | Err[Problem_co]
