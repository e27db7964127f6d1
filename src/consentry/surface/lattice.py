"""`Surface`: a typed set of powers in eight dimensions, and the lattice they form.

    a | b    join: the powers of either          may this patch and that tool live together?
    a & b    meet: the powers of both            what do manifest and profile agree on?
    a <= b   cover: b grants all that a needs    may it run?
    b - a    difference: what b has beyond a     did it gain power? what is missing?

Laws, proved on generated surfaces: join and meet are idempotent, commutative and associative and
absorb each other; `a <= b` exactly when `a | b == b`; `a | (b - a)` covers `b`. Equality is mutual
cover. A surface is a value: it says what could be done and decides nothing.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass, field
from consentry.surface.access import Access
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.hosts import HostScope
from consentry.surface.pattern import Vocabulary
from consentry.surface.patterns import PatternScope
from consentry.surface.quoting import quoted

Reach: TypeAlias = (
    PatternScope | Access[HostScope] | Access[PatternScope] | LoadLevel | frozenset[str]
)
"""What one dimension holds."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The powers of one thing. The fields are the dimensions, in their fixed order."""

    fs_read_roots: PatternScope
    fs_write_roots: PatternScope
    net_access: Access[HostScope]
    proc_exec: Access[PatternScope]
    env_read: Access[PatternScope]
    dynamic_code_load: LoadLevel
    crypto_primitives: Access[PatternScope]
    tool_classes: frozenset[str]
    document: Mapping[str, object] | None = field(default=None, init=False, repr=False)
    """The document form, once it was asked for; see `wire`."""

    @classmethod
    def of(
        cls,
        *,
        read: Iterable[str] = (),
        write: Iterable[str] = (),
        net: Iterable[str] | Level = Level.NONE,
        run: Iterable[str] | Level = Level.NONE,
        env: Iterable[str] | Level = Level.NONE,
        load: LoadLevel = LoadLevel.NONE,
        crypto: Iterable[str] | Level = Level.NONE,
        tools: Iterable[str] = (),
    ) -> "Surface":
        """A surface from spellings; what is not named is not granted."""
        return cls(
            fs_read_roots=PatternScope.parse(_listed(read)),
            fs_write_roots=PatternScope.parse(_listed(write)),
            net_access=host_access(net),
            proc_exec=pattern_access(run, Vocabulary.COMMAND),
            env_read=pattern_access(env, Vocabulary.NAME),
            dynamic_code_load=load,
            crypto_primitives=pattern_access(crypto, Vocabulary.NAME),
            tool_classes=frozenset(map(check_tool_class, _listed(tools))),
        )

    def __or__(self, other: "Surface") -> "Surface":
        return Surface(
            self.fs_read_roots | other.fs_read_roots,
            self.fs_write_roots | other.fs_write_roots,
            self.net_access | other.net_access,
            self.proc_exec | other.proc_exec,
            self.env_read | other.env_read,
            max(self.dynamic_code_load, other.dynamic_code_load, key=_rank),
            self.crypto_primitives | other.crypto_primitives,
            self.tool_classes | other.tool_classes,
        )

    def __and__(self, other: "Surface") -> "Surface":
        return Surface(
            self.fs_read_roots & other.fs_read_roots,
            self.fs_write_roots & other.fs_write_roots,
            self.net_access & other.net_access,
            self.proc_exec & other.proc_exec,
            self.env_read & other.env_read,
            min(self.dynamic_code_load, other.dynamic_code_load, key=_rank),
            self.crypto_primitives & other.crypto_primitives,
            self.tool_classes & other.tool_classes,
        )

    def __sub__(self, other: "Surface") -> "Surface":
        higher = self.dynamic_code_load.rank > other.dynamic_code_load.rank
        return Surface(
            self.fs_read_roots - other.fs_read_roots,
            self.fs_write_roots - other.fs_write_roots,
            self.net_access - other.net_access,
            self.proc_exec - other.proc_exec,
            self.env_read - other.env_read,
            self.dynamic_code_load if higher else LoadLevel.NONE,
            self.crypto_primitives - other.crypto_primitives,
            self.tool_classes - other.tool_classes,
        )

    def __le__(self, other: "Surface") -> bool:
        if self is other:
            return True
        # The cheap dimensions first: most refusals need no look at a path.
        return (
            self.dynamic_code_load.rank <= other.dynamic_code_load.rank
            and self.tool_classes <= other.tool_classes
            and self.net_access <= other.net_access
            and self.proc_exec <= other.proc_exec
            and self.env_read <= other.env_read
            and self.crypto_primitives <= other.crypto_primitives
            and self.fs_read_roots <= other.fs_read_roots
            and self.fs_write_roots <= other.fs_write_roots
        )

    def __ge__(self, other: "Surface") -> bool:
        return other <= self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Surface):
            return NotImplemented
        return self <= other <= self

    def __hash__(self) -> int:
        return hash(tuple(self[dimension] for dimension in Dimension))

    def __bool__(self) -> bool:
        return self != NOTHING

    def __getitem__(self, dimension: Dimension) -> Reach:
        reach: Reach = getattr(self, dimension.key)
        return reach

    def gains_over(self, before: "Surface") -> "tuple[Gain, ...]":
        """Every power this has beyond `before`, dimension by dimension, with its reason."""
        added = self - before
        return tuple(
            Gain.made(dimension, before[dimension], self[dimension], added[dimension])
            for dimension in Dimension
            if _is_open(added[dimension])
        )


@dataclass(frozen=True, slots=True)
class Gain:
    """One dimension in which a surface goes beyond another, and by what.

    `before` and `after` are the rung of the ladder, or the members of a set.
    """

    dimension: Dimension
    before: str | tuple[str, ...]
    after: str | tuple[str, ...]
    added: tuple[str, ...]
    reason: str

    @classmethod
    def made(cls, dimension: Dimension, before: Reach, after: Reach, added: Reach) -> "Gain":
        """States what was added and why the former surface does not cover it."""
        targets = spellings(added)
        was, is_now = standing(before), standing(after)
        wanted, had = quoted(targets), quoted(spellings(before))
        if not targets:
            reason = f"{is_now} is more than {was}"
        elif not had:
            reason = f"{wanted} where nothing was open"
        else:
            reason = f"{wanted} beyond {had}" + _for_example(before, added, targets)
        return cls(dimension, was, is_now, targets, reason)


def _for_example(before: Reach, added: Reach, targets: tuple[str, ...]) -> str:
    """A path of a wildcard gain that was not covered: more telling than two patterns."""
    if not (isinstance(added, PatternScope) and isinstance(before, PatternScope)):
        return ""
    try:
        example = added.counterexample(before)
    except BadInput:
        # An example is a courtesy; that it is too much work to find one takes nothing away.
        return ""
    return "" if example is None or example in targets else f", such as {quoted([example])}"


def standing(reach: Reach) -> str | tuple[str, ...]:
    """The rung a dimension stands on; for sets, the members themselves."""
    if isinstance(reach, Access):
        return reach.level.value
    if isinstance(reach, LoadLevel):
        return reach.value
    return spellings(reach)


def spellings(reach: Reach) -> tuple[str, ...]:
    """The targets of a dimension, in canonical spelling and order."""
    if isinstance(reach, LoadLevel):
        return ()
    if isinstance(reach, Access):
        return tuple(reach.targets)
    return tuple(sorted(reach))


def host_access(given: Iterable[str] | Level) -> Access[HostScope]:
    """A network dimension from a level or from a list of targets."""
    if isinstance(given, Level):
        return Access(given, HostScope.parse(()))
    return Access(Level.ALLOWLIST, HostScope.parse(_listed(given)))


def pattern_access(given: Iterable[str] | Level, vocabulary: Vocabulary) -> Access[PatternScope]:
    """A dimension of programs or names from a level or from a list of patterns."""
    if isinstance(given, Level):
        return Access(given, PatternScope.parse((), vocabulary))
    return Access(Level.ALLOWLIST, PatternScope.parse(_listed(given), vocabulary))


def _listed(given: Iterable[str]) -> Iterable[str]:
    """Refuses a lone string, which would otherwise be read letter by letter."""
    if isinstance(given, str):
        raise BadInput(Code.SURFACE_FIELD, f"`{given}` stands alone where a list is meant")
    return given


def check_tool_class(word: str) -> str:
    """Returns the name of a tool class, or raises: a plain word, with nothing around it."""
    if not word or not word.isprintable() or word != word.strip():
        raise BadInput(Code.SURFACE_FIELD, f"`{word}` is not the name of a tool class")
    return word


def _is_open(reach: Reach) -> bool:
    if isinstance(reach, Access):
        return reach.level is not Level.NONE
    if isinstance(reach, LoadLevel):
        return reach is not LoadLevel.NONE
    return bool(reach)


def _rank(level: LoadLevel) -> int:
    return level.rank


NOTHING: Final = Surface.of()
"""The surface without any power: the bottom of the lattice, and what everything starts with."""
