"""Values behave as those of `dataclasses` do: every test here runs on both."""

import copy
import dataclasses
import pickle
from types import SimpleNamespace
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from consentry.base import valueclasses

Made = TypeVar("Made")


@pytest.fixture(params=[dataclasses, valueclasses], ids=["dataclasses", "ours"])
def made_by(request: pytest.FixtureRequest) -> Any:
    """The standard's own and ours."""
    return request.param


@valueclasses.dataclass(frozen=True, slots=True)
class Pickled:
    """Lies in a module, so that it can be found again."""

    x: int
    y: tuple[str, ...] = ()


def sample(made_by: Any) -> Any:
    """A frozen value with every kind of field."""
    field = made_by.field

    @made_by.dataclass(frozen=True, slots=True)
    class Sample:
        shared: ClassVar[int] = 7
        x: int
        y: str = "a"
        z: list[int] = field(default_factory=list)
        hidden: int = field(default=1, repr=False)
        aside: int = field(default=2, compare=False)
        beside: int = field(default=3, hash=False)
        last: int = field(default=4, kw_only=True)

        def doubled(self) -> int:
            return 2 * self.x

    return Sample


def test_is_made_with_its_defaults(made_by: Any) -> None:
    """Each instance has a fresh one where a factory makes it."""
    cls = sample(made_by)
    one, two = cls(1), cls(1)
    assert (one.x, one.y, one.z, one.hidden, one.aside, one.last) == (1, "a", [], 1, 2, 4)
    assert one.z is not two.z
    assert cls(1, "b", [2], 3, 4, 5, last=6).last == 6
    assert (cls.shared, one.shared, one.doubled()) == (7, 7, 2)


def test_refuses_words_it_does_not_know(made_by: Any) -> None:
    """One too few, one too many, an unknown one, and one that must be named."""
    cls = sample(made_by)
    for args, words in (((), {}), ((1,), {"odd": 1}), ((1, "b", [], 1, 2, 3, 4), {})):
        with pytest.raises(TypeError):
            cls(*args, **words)


def test_is_compared_and_hashed_by_its_fields(made_by: Any) -> None:
    """Those that are set apart do not count, and another class is never equal."""
    cls = sample(made_by)
    key = (1, "a", (), 1, 9, 3)
    one, other = cls(*key), cls(1, "a", (), 1, 8, 3)
    assert one == other
    assert hash(one) == hash(other)
    assert one != cls(2, "a", ())
    assert one != cls(1, "a", (), 1, 9, 5)
    assert hash(one) == hash(cls(1, "a", (), 1, 9, 5))
    assert one != SimpleNamespace(x=1)
    assert (one == 1) is False


def test_shows_what_may_be_shown(made_by: Any) -> None:
    """A field that is not to be shown is not."""
    shown = repr(sample(made_by)(1))
    assert shown.endswith("Sample(x=1, y='a', z=[], aside=2, beside=3, last=4)")


def test_cannot_be_changed(made_by: Any) -> None:
    """Neither a field nor anything else."""
    one = sample(made_by)(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.x
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
        one.odd = 2
    assert not hasattr(one, "__dict__")


def test_is_replaced(made_by: Any) -> None:
    """Both ways to say it work on both."""
    one = sample(made_by)(1, last=9)
    assert dataclasses.replace(one, x=2) == made_by.replace(one, x=2)
    assert made_by.replace(one, x=2).last == 9
    with pytest.raises(TypeError):
        made_by.replace(one, odd=1)


def test_is_known_to_dataclasses(made_by: Any) -> None:
    """Their fields, and as a mapping."""
    one = sample(made_by)(1)
    names = ["x", "y", "z", "hidden", "aside", "beside", "last"]
    assert [each.name for each in dataclasses.fields(one)] == names
    assert list(dataclasses.asdict(one)) == names
    assert dataclasses.is_dataclass(one)


def test_is_taken_apart_by_a_pattern(made_by: Any) -> None:
    """By position, without the fields that must be named."""
    match sample(made_by)(5, "word"):
        case x if type(x).__match_args__ == ("x", "y", "z", "hidden", "aside", "beside"):
            assert (x.x, x.y) == (5, "word")
        case _:
            pytest.fail("no positions")


def test_is_copied_and_pickled() -> None:
    """A frozen value with slots comes back the same."""
    one = Pickled(1, ("a",))
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one  # noqa: S301


def test_inherits_fields_and_defaults(made_by: Any) -> None:
    """In their order; a field said again keeps its place."""

    @made_by.dataclass(frozen=True, slots=True)
    class Base:
        a: int
        b: int = 2

    @made_by.dataclass(frozen=True, slots=True)
    class Below(Base):
        c: int = 3
        b: int = 5

    assert (Below(1).a, Below(1).b, Below(1).c) == (1, 5, 3)
    assert [each.name for each in dataclasses.fields(Below)] == ["a", "b", "c"]
    assert Base(1) != Below(1, 2)
    assert Base(1).b == 2


def test_a_plain_class_below_is_made_as_its_base(made_by: Any) -> None:
    """Whichever of the two is made first."""

    @made_by.dataclass(frozen=True, slots=True)
    class Base:
        a: int

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError("below nothing")

    class Below(Base):
        """Adds nothing."""

    assert Below(1).a == 1
    assert Base(1).a == 1
    for cls in (Below, Base):
        with pytest.raises(ValueError, match="below nothing"):
            cls(-1)


def test_fields_that_are_not_given_are_made(made_by: Any) -> None:
    """By a factory, by a default, or after the others."""
    field = made_by.field

    @made_by.dataclass(slots=True)
    class Sample:
        a: int
        b: list[int] = field(init=False, default_factory=list)
        c: int = field(init=False, default=3)
        d: int = field(init=False)

        def __post_init__(self) -> None:
            self.d = self.a + 1

    one = Sample(1)
    assert (one.a, one.b, one.c, one.d) == (1, [], 3, 2)
    one.a = 5
    assert one.a == 5
    assert Sample.__hash__ is None
    with pytest.raises(ValueError, match="d"):
        made_by.replace(one, d=1)


def test_without_slots_defaults_are_seen_on_the_class(made_by: Any) -> None:
    """And a field without one is not."""

    @made_by.dataclass(eq=True, unsafe_hash=True)
    class Sample:
        a: int
        b: int = 2
        c: list[int] = made_by.field(default_factory=list, compare=False)

    assert (Sample.b, hasattr(Sample, "a"), hasattr(Sample, "c")) == (2, False, False)
    assert hash(Sample(1)) == hash(Sample(1))
    one = Sample(1)
    one.odd = 1  # type: ignore[attr-defined]
    assert one.__dict__["odd"] == 1


def test_is_ordered_where_that_is_asked_for(made_by: Any) -> None:
    """By its fields, and only among its own."""

    @made_by.dataclass(frozen=True, slots=True, order=True)
    class Sample:
        a: int
        b: int = 0

    assert Sample(1) < Sample(2) <= Sample(2, 0) < Sample(2, 1)
    assert sorted([Sample(2), Sample(1, 5)]) == [Sample(1, 5), Sample(2)]
    with pytest.raises(TypeError):
        assert Sample(1) < 3  # type: ignore[operator]


def test_is_compared_by_identity_where_that_is_asked_for(made_by: Any) -> None:
    """And can be hashed all the same."""

    @made_by.dataclass(frozen=True, slots=True, eq=False)
    class Sample:
        a: int

    one = Sample(1)
    assert one != Sample(1)
    assert len({one, Sample(1)}) == 2


def test_own_methods_stand(made_by: Any) -> None:
    """What a class writes for itself is not written over."""

    @made_by.dataclass(frozen=True, slots=True)
    class Sample:
        a: int

        def __repr__(self) -> str:
            return "shown"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 3

    assert (repr(Sample(1)), Sample(1) == 5, hash(Sample(1))) == ("shown", True, 3)


def test_all_by_name(made_by: Any) -> None:
    """A whole class of them, and one below it."""

    @made_by.dataclass(frozen=True, slots=True, kw_only=True)
    class Base:
        a: int = 1

    @made_by.dataclass(frozen=True, slots=True)
    class Below(Base):
        b: int

    assert Below(2, a=3).a == 3
    assert Below.__match_args__ == ("b",)
    with pytest.raises(TypeError):
        Base(1)  # type: ignore[misc]


def test_generic_classes(made_by: Any) -> None:
    """Their parameters change nothing."""

    @made_by.dataclass(frozen=True, slots=True)
    class Box(Generic[Made]):
        inside: Made

    assert Box(3) == Box(3)


def test_a_field_of_an_unknown_kind_is_refused() -> None:
    """What is not kept is said, and not passed over."""
    with pytest.raises(TypeError, match="metadata"):
        valueclasses.field(metadata={})
