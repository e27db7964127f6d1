"""Loads Python modules of plugins from the bytes that were verified, and from nothing else.

An importer of our own stands beside Python's: what begins with the name it gave a plugin is compiled from
that plugin's verified bytes, whatever lies on the disk by then. A plugin's folder is on no search path; a
module reaches others of the same plugin by relative imports, and everything else as any program does. No
bytecode is read or written. The name has the digest of the tree in it, so that a plugin that is another
one by now is another module, too. A module has no `__file__`: there is no file that it can rely on.

What is loaded runs in this process with all that this process may do. The threat model is plugins of the
first party: the fence and the lock are lint and an integrity check, and neither of them confines anything.
"""

import importlib
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import Lock
from types import CodeType, ModuleType
from typing import Final

from consentry.base.values import dataclass
from consentry.service.plugins import VerifiedPlugin

_PREFIX: Final = "_consentry_plugin_"
_DIGITS: Final = 32
_ENDING: Final = ".py"
_PACKAGE: Final = "__init__.py"


@dataclass(frozen=True, slots=True)
class PluginRule:
    """A rule in Python; its module is loaded when it is first asked."""

    plugin: VerifiedPlugin
    file: str

    @property
    def name(self) -> str:
        """How evidence calls it."""
        return f"{self.plugin.name}/{self.file}"

    def examine(self, path: str, text: str) -> Iterable[tuple[str, str, int]]:
        """What the rule says of one file; raises whatever the rule raises."""
        found: Iterable[tuple[str, str, int]] = load_module(self.plugin, self.file).examine(
            path, text
        )
        return found


def load_module(plugin: VerifiedPlugin, file: str) -> ModuleType:
    """A module of a plugin, run when it is loaded for the first time."""
    return importlib.import_module(_IMPORTER.know(plugin, file))


class _Importer(MetaPathFinder, Loader):
    """Finds and loads the modules of every plugin that it was told of."""

    def __init__(self) -> None:
        self._plugins: dict[str, VerifiedPlugin] = {}
        self._one_at_a_time = Lock()

    def know(self, plugin: VerifiedPlugin, file: str) -> str:
        """The name under which a file of the plugin is imported."""
        digits = plugin.digest.removeprefix("sha256:")[:_DIGITS]
        top = f"{_PREFIX}{plugin.name.replace('-', '_')}_{digits}"
        with self._one_at_a_time:
            self._plugins.setdefault(top, plugin)
            if self not in sys.meta_path:
                sys.meta_path.insert(0, self)
        return f"{top}.{file.removesuffix(_ENDING).replace('/', '.')}"

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the interface of a finder
        target: ModuleType | None = None,  # noqa: ARG002 - as above
    ) -> ModuleSpec | None:
        """Where a module is; None for what is none of ours."""
        top, _, rest = fullname.partition(".")
        plugin = self._plugins.get(top)
        if plugin is None:
            return None
        place = rest.replace(".", "/")
        if place and f"{place}{_ENDING}" in plugin.contents:
            return self._spec(fullname, plugin, f"{place}{_ENDING}", is_package=False)
        above = f"{place}/" if place else ""
        if any(file.startswith(above) and file.endswith(_ENDING) for file in plugin.contents):
            return self._spec(fullname, plugin, f"{above}{_PACKAGE}", is_package=True)
        return None

    def _spec(
        self, name: str, plugin: VerifiedPlugin, file: str, *, is_package: bool
    ) -> ModuleSpec:
        spec = ModuleSpec(name, self, is_package=is_package)
        spec.loader_state = (plugin, file)
        return spec

    def create_module(self, spec: ModuleSpec) -> None:  # noqa: ARG002 - the interface of a loader
        """As Python makes any."""
        return

    def exec_module(self, module: ModuleType) -> None:
        """Compiles the verified bytes and runs them."""
        spec = module.__spec__
        if spec is None:
            raise ImportError(f"`{module.__name__}` is not a module of a plugin")
        plugin, file = spec.loader_state
        content = plugin.contents.get(file)
        if content is not None:
            exec(_compiled(plugin.name, file, content), module.__dict__)  # noqa: S102 - that is loading


def _compiled(plugin: str, file: str, content: bytes) -> CodeType:
    code: CodeType = compile(content, f"plugin:{plugin}/{file}", "exec", dont_inherit=True)
    return code


_IMPORTER: Final = _Importer()
