"""A package that breaks several rules is refused for the first of them, in a fixed order."""

import json
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import pytest

from consentry.declare.modulecodes import PackageCode
from consentry.declare.modulepackage import KEYS
from tests.declare.modulesamples import package_document
from tests.declare.packageanswers import Answer, answer, answer_to

MANIFEST_ERROR = "manifest-validation-error"


class Break(NamedTuple):
    """One way to break the sample, and what it is answered then."""

    step: str
    change: Callable[[dict[str, Any]], object]
    code: str
    path: str
    manifest_code: str | None = None

    @property
    def answer(self) -> Answer:
        """What a package is answered that breaks this rule first."""
        return Answer(self.code, self.path, self.manifest_code)

    @property
    def name(self) -> str:
        """How a test is called that is about it."""
        return f"{self.path.removeprefix('package.')}:{self.manifest_code or self.code}"


def setting(*place_and_value: Any) -> Callable[[dict[str, Any]], object]:
    """The change that puts a value at a place."""
    *place, last, value = place_and_value

    def change(document: Any) -> None:
        for step in place:
            document = document[step]
        document[last] = value

    return change


def core(code: str, key: str, value: object) -> Break:
    """A break of the root or of the core metadata."""
    step = "root and keys" if key not in KEYS else "core metadata"
    return Break(step, setting(key, value), code, f"package.{key}")


def compatibility(code: str, key: str, value: object) -> Break:
    """A break of a key of `compatibility`."""
    path = f"package.compatibility.{key}"
    return Break("compatibility", setting("compatibility", key, value), code, path)


def manifest(manifest_code: str, below: str, *place_and_value: Any) -> Break:
    """A break of the manifest."""
    change, path = setting("pluginManifest", *place_and_value), f"package.pluginManifest{below}"
    return Break("plugin manifest", change, MANIFEST_ERROR, path, manifest_code)


def binding(code: str, below: str, *place_and_value: Any) -> Break:
    """A break of the bindings."""
    change, path = setting("commandBindings", *place_and_value), f"package.commandBindings{below}"
    return Break("command bindings", change, code, path)


def shape(code: str, key: str, below: str, *place_and_value: Any) -> Break:
    """A break of capabilities or extensions."""
    change = setting(key, *place_and_value)
    return Break("capability and extension shape", change, code, f"package.{key}{below}")


def _unknown_command(document: dict[str, Any]) -> None:
    document["pluginManifest"]["ui"][4]["action"]["commandId"] = "notes.burn"
    document["commandBindings"][3]["commandId"] = "notes.burn"


def _unbound(document: dict[str, Any]) -> None:
    entry = {"id": "late", "slot": "left-panel", "type": "button"}
    document["pluginManifest"]["ui"].append(entry | {"action": {"commandId": "notes.list"}})


# Each stands at a place of its own, so that any two of them can be had at once.
BREAKS = [
    core("invalid-package-key", "aardvark", 1),
    core("invalid-package-key", "zebra", 1),
    core("invalid-package-abi-version", "packageAbiVersion", 2),
    core("invalid-module-id", "moduleId", "No"),
    core("invalid-module-version", "moduleVersion", "1"),
    core("invalid-display-name", "displayName", ""),
    core("invalid-package-key", "description", 1),
    compatibility("invalid-compatibility", "aardvark", 1),
    compatibility("invalid-compatibility", "zebra", 1),
    compatibility("unsupported-plugin-manifest-version", "pluginManifestVersion", 2),
    compatibility("invalid-compatibility", "commandBusContractVersion", "1"),
    compatibility("app-version-out-of-range", "minAppVersion", "9.0.0"),
    compatibility("invalid-compatibility", "maxAppVersionExclusive", "x"),
    manifest("unknown-key", ".aardvark", "aardvark", 1),
    manifest("unknown-key", ".zebra", "zebra", 1),
    manifest("invalid-manifest-version", ".manifestVersion", "manifestVersion", 2),
    Break(
        "plugin manifest",
        setting("pluginManifest", "pluginId", "other"),
        "module-id-plugin-id-mismatch",
        "package.pluginManifest.pluginId",
    ),
    manifest("unknown-key", ".ui[0].aardvark", "ui", 0, "aardvark", 1),
    manifest("invalid-entry", ".ui[0].id", "ui", 0, "id", ""),
    manifest("unknown-slot", ".ui[0].slot", "ui", 0, "slot", "body"),
    manifest("unknown-type", ".ui[0].type", "ui", 0, "type", "page"),
    manifest("invalid-entry", ".ui[0].label", "ui", 0, "label", 1),
    manifest("unknown-key", ".ui[0].action.aardvark", "ui", 0, "action", "aardvark", 1),
    manifest("invalid-action", ".ui[0].action.commandId", "ui", 0, "action", "commandId", ""),
    manifest("duplicate-entry-id", ".ui[2].id", "ui", 2, "id", "board"),
    manifest("invalid-action", ".ui[3].action", "ui", 3, "action", 1),
    manifest("invalid-entry", ".ui[5]", "ui", 5, 1),
    binding("invalid-command-binding", "[0].aardvark", 0, "aardvark", 1),
    binding("invalid-command-binding", "[0].zebra", 0, "zebra", 1),
    binding("invalid-command-binding-id", "[0].bindingId", 0, "bindingId", ""),
    binding("unknown-ui-entry-id", "[0].uiEntryId", 0, "uiEntryId", "no"),
    binding("command-id-mismatch", "[0].commandId", 0, "commandId", "notes.add"),
    binding(
        "binding-mutation-scope-mismatch",
        "[0].expectedMutationScope",
        0,
        "expectedMutationScope",
        "doc",
    ),
    binding("duplicate-command-binding-id", "[2].bindingId", 2, "bindingId", "b-export"),
    Break(
        "command bindings",
        _unknown_command,
        "unknown-command-id",
        "package.commandBindings[3].commandId",
    ),
    binding("invalid-command-binding", "[4]", 4, 1),
    Break(
        "command bindings",
        _unbound,
        "missing-binding-for-ui-action",
        "package.pluginManifest.ui[6].action",
    ),
    shape("invalid-capability-shape", "capabilitiesRequested", "[1]", 1, " "),
    shape("invalid-capability-shape", "capabilitiesRequested", "[2]", 2, 1),
    shape("invalid-extension-key", "extensions", ".aardvark", "aardvark", 1),
    shape("invalid-extension-key", "extensions", ".zebra", "zebra", 1),
    Break(
        "capability semantics",
        setting("capabilitiesRequested", 0, "aardvark"),
        "capability-unknown-id",
        "package.capabilitiesRequested[0]",
    ),
]


def broken(*breaks: Break) -> dict[str, Any]:
    """The sample with all of these breaks."""
    document = package_document()
    for each in breaks:
        each.change(document)
    return document


def turned(value: object) -> object:
    """The same with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: turned(item) for key, item in reversed(value.items())}
    return [turned(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("only", BREAKS, ids=lambda each: each.name)
def test_each_alone_has_its_answer(only: Break) -> None:
    """CONTRACTS §1-order, §12-import-path: what the pairs below are made of."""
    assert answer_to(broken(only)) == only.answer


@pytest.mark.parametrize(("earlier", "later"), list(pairwise(BREAKS)), ids=lambda each: each.name)
def test_of_two_neighbours_the_earlier_is_the_answer(earlier: Break, later: Break) -> None:
    """CONTRACTS §1-order, §12-import-order: steps, keys of a step, unknown keys, indexes."""
    assert answer_to(broken(earlier, later)) == earlier.answer


def test_of_any_two_the_earlier_is_the_answer() -> None:
    """CONTRACTS §1-order: however far apart, and in whichever order the keys are written."""
    for earlier, later in combinations(BREAKS, 2):
        document = broken(later, earlier)
        assert answer_to(document) == earlier.answer, (earlier.name, later.name)
        assert answer_to(turned(document)) == earlier.answer, (earlier.name, later.name)


def test_all_at_once_are_answered_by_the_first() -> None:
    """CONTRACTS §1-order: taken away one by one from the front, the next is the answer."""
    for index, first in enumerate(BREAKS):
        assert answer_to(broken(*BREAKS[index:])) == first.answer


def test_what_is_no_json_comes_before_everything() -> None:
    """CONTRACTS §1-order, §12-import-garbage: whatever else is wrong with the package."""
    whole = json.dumps(broken(*BREAKS))
    for text in (whole[:-1], whole + "}", whole.replace('"zebra": 1', '"zebra": NaN', 1)):
        assert answer(text) == Answer("invalid-package-root", "package")
    assert answer_to([broken(*BREAKS)]) == Answer("invalid-package-root", "package")


CONTAINERS = [
    ("compatibility", "invalid-compatibility", None),
    ("pluginManifest", MANIFEST_ERROR, "invalid-root"),
    ("commandBindings", "invalid-command-bindings-array", None),
    ("capabilitiesRequested", "invalid-capability-shape", None),
    ("extensions", "invalid-extension-key", None),
]


@pytest.mark.parametrize(("earlier", "later"), list(pairwise(CONTAINERS)), ids=lambda each: each[0])
def test_of_two_objects_that_are_none_the_earlier_is_the_answer(
    earlier: tuple[str, str, str | None], later: tuple[str, str, str | None]
) -> None:
    """CONTRACTS §1-order: also for the shape of what a step looks into."""
    for wrong in (earlier, later):
        document = package_document() | {wrong[0]: 1}
        assert answer_to(document) == Answer(wrong[1], f"package.{wrong[0]}", wrong[2])
    document = package_document() | {later[0]: 1, earlier[0]: 1}
    assert answer_to(document) == Answer(earlier[1], f"package.{earlier[0]}", earlier[2])


def test_unknown_keys_are_answered_in_ascending_order() -> None:
    """CONTRACTS §12-import-order: by code point, whatever the order in the document."""
    keys = ["zz", "Z", "é", "a", "😀", "0"]
    left = list(keys)
    for first in sorted(keys):
        document = package_document() | dict.fromkeys(left, 1)
        assert answer_to(document) == Answer("invalid-package-key", f"package.{first}")
        left.remove(first)


def test_the_breaks_are_in_the_order_of_the_steps_and_leave_out_none() -> None:
    """CONTRACTS §1-order: the six steps and what follows them, every code of them but the root's."""
    steps = list(dict.fromkeys(each.step for each in BREAKS))
    assert steps == [
        "root and keys",
        "core metadata",
        "compatibility",
        "plugin manifest",
        "command bindings",
        "capability and extension shape",
        "capability semantics",
    ]
    met = {each.code for each in BREAKS} | {code for _, code, _ in CONTAINERS}
    unmet = {"invalid-package-root", "unsupported-command-bus-contract-version"}
    assert met | unmet == set(PackageCode)
