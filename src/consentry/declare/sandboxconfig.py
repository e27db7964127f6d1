"""Reads `sandbox-config.yaml`: root key `sandboxConfig` (CONSENT §sandbox, CONTRACTS §12).

    sandboxConfig:
      engine: auto
      fallbackEngine: docker
      profiles:
        lint-only:
          filesystem:
            readOnly: ["${WORKSPACE}/latex"]
            noAccess: ["*"]
          network: {enabled: true, allow: ["example.org:443"]}

The single entry `*` in `noAccess` states the default: what is not listed is closed. Every other
entry closes what it names, at any depth, whatever opens it. A path in a protected root is refused,
but for `readOnly` paths that an engine provides by itself.
"""

from collections.abc import Callable
from functools import partial
from types import MappingProxyType

from consentry.base.errors import Where
from consentry.base.nearest import closest
from consentry.base.values import replace
from consentry.declare.contradictions import check_profile
from consentry.declare.linuxcapabilities import LINUX_CAPABILITIES
from consentry.declare.names import profile_name
from consentry.declare.networkkeys import CLOSED, network
from consentry.declare.nodes import Broken, Mapping, Scalar, clipped
from consentry.declare.pathentries import GrantCheck, PathEntry, profile_path
from consentry.declare.profile import (
    DeclaredLimits,
    DenyList,
    EngineName,
    Filesystem,
    Profile,
    SandboxConfig,
)
from consentry.declare.quantities import cpu_time, duration, processes, size
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.values import Entry, Fields, Value, one_of
from consentry.surface.automaton import Work
from consentry.surface.modes import Denials, LayerPlace, Reads, Rounding, View, Writes
from consentry.surface.protected import ProtectedRoots, protected_roots

EVERYTHING = "*"

_KEYS_OF_PROFILE = (
    "capabilities",
    "filesystem",
    "network",
    "resources",
    "timeout",
    "view",
    "writes",
    "layer",
    "reads",
    "patterns",
    "denials",
)
_KEYS_OF_RESOURCES = ("maxCPU", "maxMemory", "maxProcesses", "maxFileSize", "maxWritten")


def read_sandbox_config(
    content: bytes,
    name: str,
    *,
    roots: ProtectedRoots | None = None,
    parse: Parse = parsed,
) -> SandboxConfig:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        roots: The protected roots, bound to the homes of this machine; as shipped where not given.
        parse: Where the nodes come from, if not from the text itself.
    """
    reading = _Reading(protected_roots() if roots is None else roots)
    return read_document(content, name, reading.document, parse)


class _Reading:
    """The reading of one document, with the work that its comparisons may cost."""

    def __init__(self, roots: ProtectedRoots) -> None:
        self._grants = GrantCheck(roots)
        self._work = Work()

    def document(self, root: Value) -> SandboxConfig:
        nothing = SandboxConfig()
        fields = root.fields(("sandboxConfig",))
        return nothing if fields is None else fields.need("sandboxConfig", self._config, nothing)

    def _config(self, value: Value) -> SandboxConfig | None:
        fields = value.fields(("engine", "fallbackEngine", "profiles"))
        if fields is None:
            return None
        engine = fields.may("engine", one_of(EngineName), EngineName.AUTO)
        return SandboxConfig(
            engine,
            fields.may("fallbackEngine", partial(_fallback, engine), None),
            MappingProxyType(fields.may("profiles", self._profiles, {})),
        )

    def _profiles(self, value: Value) -> dict[str, Profile] | None:
        entries = value.entries()
        if entries is None:
            return None
        found = {name: self._profile(name, entry) for name, entry in entries.items()}
        return {name: profile for name, profile in found.items() if profile is not None}

    def _profile(self, name: str, entry: Entry) -> Profile | None:
        profile_name(entry.key)
        fields = entry.value.fields(_KEYS_OF_PROFILE)
        if fields is None:
            return None
        reached = fields.may("network", network, CLOSED)
        profile = Profile(
            name,
            entry.key.where,
            dropped=fields.may("capabilities", _capabilities, ()),
            filesystem=fields.may("filesystem", self._filesystem, Filesystem()),
            network=reached.access,
            secrets=reached.secrets,
            limits=_limits(fields),
            view=fields.may("view", one_of(View), View.PRIVATE),
            writes=fields.may("writes", one_of(Writes), Writes.LAYER),
            layer=fields.may("layer", one_of(LayerPlace), LayerPlace.MEMORY),
            reads=fields.may("reads", one_of(Reads), Reads.OBSERVED),
            patterns=fields.may("patterns", one_of(Rounding), Rounding.ROUNDED),
            denials=fields.may("denials", one_of(Denials), Denials.OBSERVED),
        )
        writes = fields.find("writes")
        where = Where() if writes is None else writes.where
        check_profile(profile, where, entry.value.problems, self._work)
        layer = fields.find("layer")
        if layer is not None and profile.writes is Writes.DIRECT:
            entry.value.problems.add_at(
                layer.where,
                f"there is no layer with `writes: direct` in line {where.line}",
                "leave one of the two out",
            )
        return profile

    def _filesystem(self, value: Value) -> Filesystem | None:
        fields = value.fields(("readOnly", "readWrite", "noAccess"))
        if fields is None:
            return None
        return Filesystem(
            fields.may("readOnly", partial(_paths, self._readable), ()),
            fields.may("readWrite", partial(_paths, self._granted), ()),
            fields.may("noAccess", _no_access, DenyList()),
        )

    def _readable(self, value: Value) -> PathEntry | None:
        entry = profile_path(value)
        if entry is not None and not self._grants.is_provided(entry):
            self._grants.check(value, entry)
        return entry

    def _granted(self, value: Value) -> PathEntry | None:
        entry = profile_path(value)
        if entry is not None:
            self._grants.check(value, entry)
        return entry


def _fallback(engine: EngineName, value: Value) -> EngineName | None:
    found = value.member(EngineName)
    if found is EngineName.AUTO:
        value.refuse("`auto` names no engine to fall back on", "name one, or leave the key out")
    elif found is engine:
        value.refuse(f"`{found}` is the engine itself", "name another one, or leave the key out")
    return found


def _capabilities(value: Value) -> tuple[str, ...] | None:
    dropped = value.each(_capability)
    return None if dropped is None else tuple(dict.fromkeys(dropped))


def _capability(value: Value) -> str | None:
    entries = value.entries() if isinstance(value.node, Mapping | Broken) else {}
    if entries is None:
        return None
    if len(entries) != 1:
        message = "each item is one capability with its value"
        value.refuse(message, "write `- cap_sys_admin: false`")
        return None
    [(name, entry)] = entries.items()
    if name not in LINUX_CAPABILITIES:
        nearest = closest(name, LINUX_CAPABILITIES)
        help_line = (
            "capabilities(7) lists them" if nearest is None else f"did you mean `{nearest}`?"
        )
        entry.key.refuse(f"`{clipped(name)}` is not a Linux capability", help_line)
    if entry.value.flag() is True:
        entry.value.refuse(
            f"`{clipped(name)}` cannot be granted: no engine gives a capability",
            "write false, or leave the item out",
        )
    return name


def _paths(read: Callable[[Value], PathEntry | None], value: Value) -> tuple[PathEntry, ...] | None:
    items = value.items()
    if items is None:
        return None
    found: dict[str, PathEntry] = {}
    for item in items:
        entry = read(item)
        if entry is not None and found.setdefault(entry.root.text, entry) is not entry:
            line = found[entry.root.text].where.line
            item.refuse(f"`{entry.written}` is already in line {line}", "keep one of the two")
    return tuple(found.values())


def _no_access(value: Value) -> DenyList | None:
    items = value.items()
    if items is None:
        return None
    if len(items) == 1 and _is_everything(items[0]):
        return DenyList()
    return DenyList(_paths(_denied, value) or ())


def _denied(value: Value) -> PathEntry | None:
    if _is_everything(value):
        value.refuse(
            "`*` says that everything not listed is closed, and stands alone",
            "leave it out; that is so anyway",
        )
        return None
    return profile_path(value)


def _is_everything(value: Value) -> bool:
    return isinstance(value.node, Scalar) and value.node.text == EVERYTHING


def _limits(fields: Fields) -> DeclaredLimits:
    limits = fields.may("resources", _resources, DeclaredLimits())
    return replace(limits, timeout=fields.may("timeout", duration, None))


def _resources(value: Value) -> DeclaredLimits | None:
    fields = value.fields(_KEYS_OF_RESOURCES)
    if fields is None:
        return None
    return DeclaredLimits(
        cpu=fields.may("maxCPU", cpu_time, None),
        memory=fields.may("maxMemory", size, None),
        processes=fields.may("maxProcesses", processes, None),
        file_size=fields.may("maxFileSize", size, None),
        written=fields.may("maxWritten", size, None),
    )
