"""Packages as large as they may be, each made so that a careless step of the reader would take for ever.

Run as a script, it reads one of them and prints the answer and the most memory it took:

    python -m tests.declare.packagebombs NAME BYTES
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.declare.modulesamples import least_document, package_document
from tests.declare.packageanswers import MARK, answer, text_with


def _in(place: tuple[str | int, ...], written: str) -> str:
    return text_with(package_document(), place, written)


def _repeated(place: tuple[str | int, ...], item: str, opening: str, size: int) -> str:
    count = max(1, (size - 4096) // (len(item) + 1))
    closing = "]" if opening == "[" else "}"
    return _in(place, opening + ",".join([item] * count) + closing)


def _numbered(item: str, size: int) -> str:
    """Items with a number each, of together less than `size` characters."""
    count = max(1, (size - 4096) // (len(item) + 7))
    return ",".join(item.replace("#", str(index)) for index in range(count))


def _object(item: str, size: int, last: str = "") -> str:
    return "{" + _numbered(item, size) + last + "}"


def _array(item: str, size: int, last: str = "") -> str:
    return "[" + _numbered(item, size) + last + "]"


def _many_entries(last: str, size: int) -> str:
    item = '{"id":"e#","slot":"left-panel","type":"panel"}'
    document = least_document()
    document["pluginManifest"]["ui"] = MARK
    listed = _array(item, size, f",{last}")
    return json.dumps(document).replace(f'"{MARK}"', listed)


def _many_bindings(last: str, size: int) -> str:
    entry = '{"id":"e#","slot":"left-panel","type":"button","action":{"commandId":"notes.list"}}'
    binding = '{"bindingId":"b#","uiEntryId":"e#","commandId":"notes.list"}'
    entries, bindings = _numbered(entry, size * 5 // 10), _numbered(binding, size * 4 // 10)
    count = min(entries.count('"id"'), bindings.count('"bindingId"'))
    document: dict[str, Any] = least_document()
    document["pluginManifest"]["ui"] = json.loads(f"[{entries}]")[:count]
    document["commandBindings"] = json.loads(f"[{bindings}]")[:count]
    return json.dumps(document)[:-2] + f",{last}]}}"


def _own_payload(opening: str, item: str) -> Callable[[int], str]:
    return lambda size: _repeated(("commandBindings", 0, "payload"), item, opening, size)


BOMBS: Final[dict[str, tuple[Callable[[int], str], str]]] = {
    "arrays": (_own_payload("[", "[]"), "imported"),
    "objects": (_own_payload("[", "{}"), "imported"),
    "objects-with-a-key": (_own_payload("[", '{"":0}'), "imported"),
    "whole-numbers": (_own_payload("[", "1"), "imported"),
    "decimals": (_own_payload("[", "1.5"), "imported"),
    "texts": (_own_payload("[", '""'), "imported"),
    "keys": (
        lambda size: _in(("commandBindings", 0, "payload"), _object('"#":0', size)),
        "imported",
    ),
    "keys-beyond-ascii": (
        lambda size: _in(("extensions",), _object('"x-é#":0', size * 9 // 10)),
        "imported",
    ),
    "a-key-twice-at-the-end": (
        lambda size: _in(("extensions",), _object('"x-#":0', size, ',"x-0":0')),
        "invalid-package-root",
    ),
    "unknown-keys": (
        lambda size: json.dumps(package_document())[:-1] + "," + _object('"k#":0', size)[1:],
        "invalid-package-key",
    ),
    "one-unknown-key": (
        lambda size: json.dumps(package_document() | {"k" * (size - 4096): 1}),
        "invalid-package-key",
    ),
    "one-text": (
        lambda size: json.dumps(package_document() | {"moduleId": "k" * (size - 4096)}),
        "invalid-module-id",
    ),
    "white-space": (
        lambda size: json.dumps(package_document() | {"displayName": " " * (size - 4096)}),
        "invalid-display-name",
    ),
    "a-version": (
        lambda size: json.dumps(
            package_document() | {"moduleVersion": "1.0.0-" + "a" * (size - 4096)}
        ),
        "invalid-module-version",
    ),
    "digits": (
        lambda size: _in(("extensions", "x-order"), "9" * (size - 4096)),
        "invalid-package-root",
    ),
    "digits-behind-the-point": (
        lambda size: _in(("extensions", "x-order"), "0." + "9" * (size - 4096)),
        "imported",
    ),
    "brackets": (
        lambda size: _in(("extensions", "x-order"), "[" * (size - 4096)),
        "invalid-package-root",
    ),
    "escapes": (
        lambda size: _in(("description",), '"' + "\\ud83d\\ude00" * ((size - 4096) // 12) + '"'),
        "imported",
    ),
    "half-a-pair-at-the-end": (
        lambda size: _in(
            ("description",), '"' + "\\ud83d\\ude00" * ((size - 4096) // 12) + '\\ud83d"'
        ),
        "invalid-package-root",
    ),
    "entries": (
        lambda size: _many_entries('{"id":"e0","slot":"left-panel","type":"panel"}', size),
        "manifest-validation-error",
    ),
    "bindings": (
        lambda size: _many_bindings('{"bindingId":"b0"}', size),
        "duplicate-command-binding-id",
    ),
    "bindings-of-one-entry": (
        lambda size: _many_bindings('{"bindingId":"b","uiEntryId":"e0"}', size),
        "invalid-command-binding",
    ),
    "capabilities": (
        lambda size: _in(("capabilitiesRequested",), _array('"c#"', size)),
        "capability-unknown-id",
    ),
    "one-capability-many-times": (
        lambda size: _repeated(("capabilitiesRequested",), '"state.read"', "[", size),
        "imported",
    ),
    "extensions": (
        lambda size: _in(("extensions",), _object('"x-#":0', size, ',"a":0')),
        "invalid-extension-key",
    ),
}


def main(name: str, size: str) -> None:
    """Reads one package and prints its size, the code, the path and the memory, in MiB, of it all."""
    content = BOMBS[name][0](int(size)).encode()
    found = answer(content)
    path = "imported" if found.code == "imported" else found.path
    # What `resource` knows begins with what the process had from which this one was forked.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    most = int(status.partition("VmHWM:")[2].split()[0]) >> 10
    print(json.dumps([len(content), found.code, path, most]))  # noqa: T201 - its answer


if __name__ == "__main__":
    main(*sys.argv[1:])
