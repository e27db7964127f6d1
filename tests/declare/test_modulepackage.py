"""A module package is read as a value, or refused with the code and path that its contract names."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json, digest_json
from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import BadInput
from consentry.base.values import replace
from consentry.declare.hostdescription import HostDescription, MutationScope
from consentry.declare.modulecodes import ManifestCode, PackageCode, PackageRejected
from consentry.declare.modulepackage import read_package
from consentry.declare.modulevalues import EntryType, Slot
from tests.declare.modulesamples import (
    HOST,
    least_document,
    package,
    package_bytes,
    package_document,
)
from tests.declare.packageanswers import Answer, answer, answer_to, with_value

FIXTURES: Final = Path(__file__).with_name("packages")
PATHS: Final = {
    "invalid-package-root": "package",
    "invalid-package-key": "package.handlers",
    "invalid-package-abi-version": "package.packageAbiVersion",
    "invalid-module-id": "package.moduleId",
    "invalid-module-version": "package.moduleVersion",
    "invalid-display-name": "package.displayName",
    "invalid-compatibility": "package.compatibility.minAppVersion",
    "unsupported-plugin-manifest-version": "package.compatibility.pluginManifestVersion",
    "unsupported-command-bus-contract-version": "package.compatibility.commandBusContractVersion",
    "app-version-out-of-range": "package.compatibility.maxAppVersionExclusive",
    "manifest-validation-error": "package.pluginManifest.ui[1].slot",
    "module-id-plugin-id-mismatch": "package.pluginManifest.pluginId",
    "invalid-command-bindings-array": "package.commandBindings",
    "invalid-command-binding": "package.commandBindings[1].approved",
    "invalid-command-binding-id": "package.commandBindings[1].bindingId",
    "duplicate-command-binding-id": "package.commandBindings[1].bindingId",
    "unknown-ui-entry-id": "package.commandBindings[1].uiEntryId",
    "command-id-mismatch": "package.commandBindings[1].commandId",
    "unknown-command-id": "package.commandBindings[1].commandId",
    "binding-mutation-scope-mismatch": "package.commandBindings[1].expectedMutationScope",
    "missing-binding-for-ui-action": "package.pluginManifest.ui[2].action",
    "invalid-capability-shape": "package.capabilitiesRequested[1]",
    "invalid-extension-key": "package.extensions.colour",
    "capability-unknown-id": "package.capabilitiesRequested[2]",
}
UI: Final = ("pluginManifest", "ui")
BINDINGS: Final = "commandBindings"


def refused(*place_and_value: Any) -> Answer:
    """What the sample is answered with another value at a place."""
    *place, value = place_and_value
    return answer_to(with_value(package_document(), tuple(place), value))


def test_every_code_has_a_fixture_and_every_fixture_a_code() -> None:
    """No code is without a package that meets it (CONTRACTS §1-order)."""
    assert {path.stem for path in FIXTURES.iterdir()} == set(PackageCode) == set(PATHS)


@pytest.mark.parametrize("code", PackageCode)
def test_a_fixture_gives_its_code_and_path_every_time(code: PackageCode) -> None:
    """CONTRACTS §1-order: the same bad package, the same answer; also with its keys turned round."""
    content = FIXTURES.joinpath(f"{code}.json").read_bytes()
    turned = json.dumps(json.loads(content, object_pairs_hook=lambda pairs: dict(pairs[::-1])))
    answers = {answer(content) for _ in range(5)} | {answer(turned)}
    manifest_code = "unknown-slot" if code is PackageCode.MANIFEST_VALIDATION_ERROR else None
    assert answers == {Answer(code.value, PATHS[code], manifest_code)}


def test_a_package_is_read_whole() -> None:
    """Every key of it, as values (CONTRACTS §1-root, §1-manifest, §1-bindings)."""
    found = package()
    assert (found.module_id, found.module_version) == ("note-tools", "1.2.0")
    assert (found.display_name, found.description) == (
        "Note tools",
        "Lists, exports and adds notes",
    )
    assert (found.min_app_version, found.max_app_version_exclusive) == ("2.0.0", "3.0.0")
    assert [(each.entry_id, each.slot, each.type) for each in found.entries] == [
        ("list", Slot.CHROME_TOP_TOOLBAR, EntryType.BUTTON),
        ("board", Slot.LEFT_PANEL, EntryType.PANEL),
        ("export", Slot.TOOLBAR_BOTTOM, EntryType.BUTTON),
        ("views", Slot.LEFT_PANEL, EntryType.PANEL),
        ("add", Slot.TOOLBAR_INLINE, EntryType.BUTTON),
        ("remove", Slot.TOOLBAR_INLINE, EntryType.BUTTON),
    ]
    assert [each.label for each in found.entries][-2:] == ["Add", None]
    assert [each.action is not None for each in found.entries] == [True, False] + [True] * 4
    assert [(each.binding_id, each.command_id) for each in found.bindings][:2] == [
        ("b-list", "notes.list"),
        ("b-export", "notes.export"),
    ]
    assert found.extensions == package_document()["extensions"]
    assert found.document == package_document()
    assert found.digest == digest_json(package_document())


def test_what_may_be_left_out() -> None:
    """CONTRACTS §1-description, §1-capabilities, §1-extensions: optional keys."""
    found = package(least_document())
    assert (found.description, found.min_app_version, found.max_app_version_exclusive) == (
        None,
    ) * 3
    assert (found.entries, found.bindings, found.capabilities) == ((), (), ())
    assert found.extensions == {}


def test_layout_and_order_of_keys_make_no_other_package() -> None:
    """The digest is over canonical JSON; another value is another digest."""
    document = package_document()
    turned = json.dumps(dict(reversed(document.items())), indent=3)
    assert read_package(turned, HOST).digest == package().digest
    assert package(document | {"description": "another"}).digest != package().digest


def test_bytes_and_text_are_read_the_same() -> None:
    """Whichever a caller has."""
    content = package_bytes(package_document() | {"displayName": "Nötizen 😀"})
    assert read_package(content, HOST) == read_package(content.decode(), HOST)


def test_a_binding_has_its_own_payload_or_that_of_the_action() -> None:
    """CONTRACTS §1-bindings: its own where it has one, and `null` is one."""
    bindings = {each.binding_id: each for each in package().bindings}
    assert bindings["b-export"].payload == {"format": "json"}
    assert bindings["b-views"].payload == {"view": "mine"}
    assert (bindings["b-add"].context, bindings["b-list"].payload) == ({"selection": None}, None)
    nulled = package(with_value(package_document(), (BINDINGS, 1, "payload"), None))
    assert nulled.bindings[1].payload is None


def test_the_envelope_of_a_refusal() -> None:
    """CONTRACTS §1-envelope: code, path, message, and `detail` only where there is one."""
    with pytest.raises(PackageRejected) as plain:
        package(package_document() | {"moduleVersion": "1.2"})
    assert plain.value.envelope() == {
        "ok": False,
        "code": "invalid-module-version",
        "path": "package.moduleVersion",
        "message": "`1.2` is not a version such as 1.0.0",
    }
    with pytest.raises(PackageRejected) as detailed:
        package(with_value(package_document(), (*UI, 0, "type"), "page"))
    assert detailed.value.envelope() == {
        "ok": False,
        "code": "manifest-validation-error",
        "path": "package.pluginManifest.ui[0].type",
        "message": "`page` is not one of button, panel",
        "detail": {"manifestCode": "unknown-type"},
    }


def test_a_refusal_is_an_error_of_ours() -> None:
    """With the product's code, its exit status, and the path as its place."""
    with pytest.raises(BadInput) as caught:
        package(package_document() | {"moduleId": "No"})
    assert caught.value.code is Code.MODULE_REJECTED
    assert caught.value.exit_status is ExitStatus.BAD_DOCUMENT
    assert str(caught.value).startswith("`package.moduleId`: `No` is not")


@pytest.mark.parametrize("value", [True, 1.0, "1", 2, 0, -1, None, [1], {"v": 1}])
def test_the_abi_version_is_the_whole_number_1(value: object) -> None:
    """CONTRACTS §1-abi: nothing that merely equals it."""
    expected = Answer("invalid-package-abi-version", "package.packageAbiVersion")
    assert refused("packageAbiVersion", value) == expected


@pytest.mark.parametrize(
    "value",
    ["", "ab", "-abc", "Abc", "a_b", "a.b", "abc\n", " abc", "a" * 65, "äbc", "abc\u0661", 1, None],
)
def test_what_is_no_module_id(value: object) -> None:
    """CONTRACTS §1-module-id."""
    document = with_value(package_document(), ("moduleId",), value)
    document["pluginManifest"]["pluginId"] = value
    assert answer_to(document) == Answer("invalid-module-id", "package.moduleId")


@pytest.mark.parametrize("value", ["abc", "0-0", "a--", "a" * 64])
def test_what_is_a_module_id(value: str) -> None:
    """CONTRACTS §1-module-id: 3 to 64 characters."""
    document = package_document() | {"moduleId": value}
    document["pluginManifest"]["pluginId"] = value
    assert package(document).module_id == value


@pytest.mark.parametrize("value", ["1", "1.2", "v1.2.0", "1.2.0\n", "01.2.0", "", 1.2, None])
def test_a_module_version_is_semver(value: object) -> None:
    """CONTRACTS §1-module-version."""
    expected = Answer("invalid-module-version", "package.moduleVersion")
    assert refused("moduleVersion", value) == expected
    assert package(package_document() | {"moduleVersion": "1.2.0-rc.1+7"}).module_version


@pytest.mark.parametrize("value", ["", " ", "\t\n\u3000", 1, None, ["a"]])
def test_a_display_name_says_something(value: object) -> None:
    """CONTRACTS §1-display-name: white space is as empty as nothing."""
    assert refused("displayName", value) == Answer("invalid-display-name", "package.displayName")


@pytest.mark.parametrize("value", [None, 1, ["a"], {}])
def test_a_description_is_text(value: object) -> None:
    """CONTRACTS §1-description: of another type it is an invalid key; it may be empty."""
    assert refused("description", value) == Answer("invalid-package-key", "package.description")
    assert package(package_document() | {"description": ""}).description == ""


COMPATIBILITY: Final = [
    ("pluginManifestVersion", "1", "invalid-compatibility"),
    ("pluginManifestVersion", True, "invalid-compatibility"),
    ("pluginManifestVersion", 1.0, "invalid-compatibility"),
    ("pluginManifestVersion", 0, "unsupported-plugin-manifest-version"),
    ("commandBusContractVersion", None, "invalid-compatibility"),
    ("commandBusContractVersion", 3, "unsupported-command-bus-contract-version"),
    ("minAppVersion", "2", "invalid-compatibility"),
    ("minAppVersion", 2, "invalid-compatibility"),
    ("minAppVersion", "2.4.1", "app-version-out-of-range"),
    ("maxAppVersionExclusive", "", "invalid-compatibility"),
    ("maxAppVersionExclusive", "2.4.0+later", "app-version-out-of-range"),
    ("maxAppVersionExclusive", "2.4.0-rc.1", "app-version-out-of-range"),
    ("needs", "everything", "invalid-compatibility"),
]


@pytest.mark.parametrize(("key", "value", "code"), COMPATIBILITY)
def test_compatibility(key: str, value: object, code: str) -> None:
    """CONTRACTS §1-compatibility: the four codes, each at its key."""
    assert refused("compatibility", key, value) == Answer(code, f"package.compatibility.{key}")


@pytest.mark.parametrize(
    ("app", "least", "most"),
    [
        ("2.4.0", "2.4.0", "2.4.1"),
        ("2.4.0", None, None),
        ("10.0.0", "9.0.0", None),
        ("2.0.0-rc.1", "2.0.0-beta", "2.0.0"),
        ("2.4.0+build", "2.4.0", None),
    ],
)
def test_the_version_of_the_host_is_in_range(app: str, least: object, most: object) -> None:
    """CONTRACTS §12-app-version: compared by rank, and `null` is no bound."""
    document = package_document()
    document["compatibility"] |= {"minAppVersion": least, "maxAppVersionExclusive": most}
    assert package(document, replace(HOST, app_version=app)).min_app_version == least


def test_the_host_gives_its_version() -> None:
    """CONTRACTS §12-app-version: the same package fits one host and not another."""
    host = replace(HOST, app_version="3.0.0")
    path = "package.compatibility.maxAppVersionExclusive"
    assert answer(package_bytes(), host) == Answer("app-version-out-of-range", path)
    assert answer(package_bytes(), HOST).code == "imported"


MANIFEST: Final[list[tuple[tuple[str | int, ...], object, ManifestCode]]] = [
    ((), [], ManifestCode.INVALID_ROOT),
    (("main",), "index.js", ManifestCode.UNKNOWN_KEY),
    (("ui", 0, "html"), "<b>", ManifestCode.UNKNOWN_KEY),
    (("ui", 0, "action", "script"), "x()", ManifestCode.UNKNOWN_KEY),
    (("manifestVersion",), True, ManifestCode.INVALID_MANIFEST_VERSION),
    (("manifestVersion",), 2, ManifestCode.INVALID_MANIFEST_VERSION),
    (("ui",), {}, ManifestCode.INVALID_UI_ARRAY),
    (("ui", 1), "board", ManifestCode.INVALID_ENTRY),
    (("ui", 1, "id"), "", ManifestCode.INVALID_ENTRY),
    (("ui", 1, "slot"), None, ManifestCode.INVALID_ENTRY),
    (("ui", 1, "type"), 1, ManifestCode.INVALID_ENTRY),
    (("ui", 1, "label"), None, ManifestCode.INVALID_ENTRY),
    (("ui", 1, "id"), "list", ManifestCode.DUPLICATE_ENTRY_ID),
    (("ui", 1, "slot"), "left-panel ", ManifestCode.UNKNOWN_SLOT),
    (("ui", 1, "slot"), "LEFT-PANEL", ManifestCode.UNKNOWN_SLOT),
    (("ui", 1, "slot"), "body", ManifestCode.UNKNOWN_SLOT),
    (("ui", 1, "type"), "iframe", ManifestCode.UNKNOWN_TYPE),
    (("ui", 1, "action"), None, ManifestCode.INVALID_ACTION),
    (("ui", 0, "action", "commandId"), " ", ManifestCode.INVALID_ACTION),
]


@pytest.mark.parametrize(("place", "value", "code"), MANIFEST)
def test_manifest(place: tuple[str | int, ...], value: object, code: ManifestCode) -> None:
    """CONTRACTS §1-manifest, §12-manifest-code: the path below the manifest says where."""
    found = refused("pluginManifest", *place, value)
    below = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place)
    path = f"package.pluginManifest{below}"
    assert found == Answer("manifest-validation-error", path, code.value)


def test_every_manifest_code_is_met() -> None:
    """CONTRACTS §12-manifest-code: nine, and each has its case above."""
    assert {code for _, _, code in MANIFEST} == set(ManifestCode)
    assert len(ManifestCode) == 9


@pytest.mark.parametrize("slot", Slot)
def test_there_are_four_slots(slot: Slot) -> None:
    """MODULES §limit-render-slots: these, and a module cannot name another."""
    document = with_value(package_document(), (*UI, 1, "slot"), slot.value)
    assert package(document).entries[1].slot is slot
    assert {each.value for each in Slot} == {
        "chrome-top-toolbar",
        "left-panel",
        "toolbar-inline",
        "toolbar-bottom",
    }


@pytest.mark.parametrize("value", ["other", "", None, 1, ["note-tools"]])
def test_the_plugin_is_the_module(value: object) -> None:
    """CONTRACTS §1-manifest: another id, or none, is a clash."""
    expected = Answer("module-id-plugin-id-mismatch", "package.pluginManifest.pluginId")
    assert refused("pluginManifest", "pluginId", value) == expected


BINDING: Final = [
    ((), {}, "invalid-command-bindings-array", ""),
    ((0,), "b-list", "invalid-command-binding", "[0]"),
    ((0, "requiresApproval"), False, "invalid-command-binding", "[0].requiresApproval"),
    ((0, "role"), "owner", "invalid-command-binding", "[0].role"),
    ((0, "bindingId"), None, "invalid-command-binding-id", "[0].bindingId"),
    ((0, "bindingId"), " ", "invalid-command-binding-id", "[0].bindingId"),
    ((1, "bindingId"), "b-list", "duplicate-command-binding-id", "[1].bindingId"),
    ((0, "uiEntryId"), 1, "invalid-command-binding", "[0].uiEntryId"),
    ((0, "uiEntryId"), "List", "unknown-ui-entry-id", "[0].uiEntryId"),
    ((0, "uiEntryId"), "board", "invalid-command-binding", "[0].uiEntryId"),
    ((1, "uiEntryId"), "list", "invalid-command-binding", "[1].uiEntryId"),
    ((0, "commandId"), None, "invalid-command-binding", "[0].commandId"),
    ((0, "commandId"), "notes.export", "command-id-mismatch", "[0].commandId"),
    ((0, "expectedMutationScope"), "doc", "binding-mutation-scope-mismatch", None),
    ((0, "expectedMutationScope"), "all", "binding-mutation-scope-mismatch", None),
    ((0, "expectedMutationScope"), None, "binding-mutation-scope-mismatch", None),
    ((0, "expectedMutationScope"), ["local"], "binding-mutation-scope-mismatch", None),
]


@pytest.mark.parametrize(("place", "value", "code", "below"), BINDING)
def test_binding(place: tuple[str | int, ...], value: object, code: str, below: str | None) -> None:
    """CONTRACTS §1-bindings: each rule with its code; a binding overrides nothing of a command."""
    path = "[0].expectedMutationScope" if below is None else below
    assert refused(BINDINGS, *place, value) == Answer(code, f"package.commandBindings{path}")


def test_a_binding_names_a_command_of_the_host() -> None:
    """CONTRACTS §1-bindings: what one host has, another may not have."""
    host = replace(HOST, commands=HOST.commands[1:])
    expected = Answer("unknown-command-id", "package.commandBindings[0].commandId")
    assert answer(package_bytes(), host) == expected


def test_every_action_has_exactly_one_binding() -> None:
    """CONTRACTS §1-bindings: none is missing, and no entry has two."""
    document = package_document()
    del document[BINDINGS][3]
    path = "package.pluginManifest.ui[4].action"
    assert answer_to(document) == Answer("missing-binding-for-ui-action", path)
    document = package_document()
    document[BINDINGS].append(document[BINDINGS][0] | {"bindingId": "again"})
    path = "package.commandBindings[5].uiEntryId"
    assert answer_to(document) == Answer("invalid-command-binding", path)


@pytest.mark.parametrize("scope", MutationScope)
def test_the_expected_scope_is_the_commands_own(scope: MutationScope) -> None:
    """CONTRACTS §1-scope: said or not, the package is taken only if it does not differ."""
    first = replace(HOST.commands[0], mutation_scope=scope)
    host = replace(HOST, commands=(first, *HOST.commands[1:]))
    for expected in MutationScope:
        document = with_value(package_document(), (BINDINGS, 0, "expectedMutationScope"), expected)
        found = answer_to(document, host)
        if expected is scope:
            assert package(document, host).bindings[0].expected_scope is scope
        else:
            path = "package.commandBindings[0].expectedMutationScope"
            assert found == Answer("binding-mutation-scope-mismatch", path)
    assert package(None, host).bindings[0].expected_scope is None


@pytest.mark.parametrize(
    ("value", "below"),
    [
        (None, ""),
        ([], ""),
        ("x-a", ""),
        ({"x-a": 1, "a": 2}, ".a"),
        ({"X-a": 1}, ".X-a"),
        ({"x_a": 1}, ".x_a"),
        ({" x-a": 1}, ". x-a"),
        ({"b": 1, "a": 1}, ".a"),
    ],
)
def test_extensions(value: object, below: str) -> None:
    """CONTRACTS §1-extensions: an object whose keys begin with `x-`."""
    expected = Answer("invalid-extension-key", f"package.extensions{below}")
    assert refused("extensions", value) == expected


@given(st.dictionaries(st.text(max_size=3).map("x-{}".format), st.floats(-9, 9) | st.text()))
def test_any_values_of_extensions_are_kept(said: dict[str, Any]) -> None:
    """CONTRACTS §1-extensions: whatever JSON is in them."""
    try:
        canonical_json(said)
    except BadInput:
        return
    assert package(package_document() | {"extensions": said}).extensions == said


IN_A_CHILD: Final = """
import sys
from consentry.declare.modulepackage import read_package
from tests.declare.modulesamples import HOST, package, package_bytes, package_document
hostile = "__import__('os').system('id') ${jndi:x} {{7*7}} <script>alert(1)</script> \\0 \\u202e"
document = package_document()
document["displayName"] = document["description"] = hostile
for entry in document["pluginManifest"]["ui"]:
    entry["label"] = hostile
for binding in document["commandBindings"]:
    binding["payload"] = binding["context"] = {hostile: [hostile], "__class__": hostile}
document["extensions"] = {f"x-{hostile}": hostile}
package()  # what is imported and compiled once is so now
content = package_bytes(document)
happened = []
sys.addaudithook(lambda event, _: happened.append(event))
found = read_package(content, HOST)
during = list(happened)
assert not [each for each in during if each != "object.__getattr__"], during
assert found.document == document and found.description == hostile
print("nothing happened")
"""


def test_a_package_is_data_and_nothing_in_it_is_evaluated() -> None:
    """CONTRACTS §1-data: while one is read, nothing is opened, started, imported or compiled."""
    root = Path(__file__).parents[2]
    child = [sys.executable, "-c", IN_A_CHILD]
    ended = subprocess.run(child, cwd=root, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("nothing happened\n", "")


def test_a_host_without_commands_takes_a_package_without_bindings() -> None:
    """A module may only show things."""
    host = HostDescription("empty-host", "1.0.0")
    assert read_package(package_bytes(least_document()), host).bindings == ()
