"""The checks by name, in the order they run. A new check is a file with `check(tree)` and a row here."""

from collections.abc import Callable, Iterator
from types import MappingProxyType

from checks import (
    citations,
    conformance,
    dependencies,
    documented,
    fence,
    knowledge,
    length,
    links,
    overclaim,
    plugins,
    privacy,
    tokens,
    userfiles,
)
from checks.finding import Finding
from checks.tree import Tree

CHECKS: MappingProxyType[str, Callable[[Tree], Iterator[Finding]]] = MappingProxyType(
    {
        "length": length.check,
        "overclaim": overclaim.check,
        "fence": fence.check,
        "userfiles": userfiles.check,
        "tokens": tokens.check,
        "documented": documented.check,
        "knowledge": knowledge.check,
        "conformance": conformance.check,
        "citations": citations.check,
        "dependencies": dependencies.check,
        "plugins": plugins.check,
        "links": links.check,
        "privacy": privacy.check,
    }
)
