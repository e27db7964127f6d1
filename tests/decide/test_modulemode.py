"""The operator's switch: four positions, what each lets through, and how it is kept (MODULES, roll-back)."""

from typing import Any

import pytest

from consentry.base.errors import BadInput
from consentry.decide.modulemode import ModeSetting, ModuleMode
from tests.decide.samples import NOW, OWNER


def test_there_are_four_modes() -> None:
    """MODULES §mode-deny-all, §mode-inspect-only, §mode-block-rejected: these, and the normal one."""
    assert [each.value for each in ModuleMode] == [
        "deny-all",
        "inspect-only",
        "block-rejected",
        "normal",
    ]


def test_what_each_lets_through() -> None:
    """MODULES §mode-deny-all, §mode-inspect-only, §mode-block-rejected: act, be shown, ask."""
    assert {each.value: (each.lets_act, each.lets_render, each.asks) for each in ModuleMode} == {
        "deny-all": (False, False, False),
        "inspect-only": (False, True, False),
        "block-rejected": (True, True, False),
        "normal": (True, True, True),
    }


def test_the_modes_stand_from_the_strictest_to_the_loosest() -> None:
    """MODULES §mode-deny-all: whoever loosens is known by the order, and staying loosens nothing."""
    modes = list(ModuleMode)
    for index, each in enumerate(modes):
        assert [each.lets_more_than(other) for other in modes] == [
            place < index for place in range(len(modes))
        ]


def test_nobody_set_it_until_somebody_did() -> None:
    """MODULES §mode-deny-all: the system's own setting is normal, at no time."""
    assert ModeSetting().to_json() == {"mode": "normal", "changedBy": "system", "changedAt": None}


@pytest.mark.parametrize("mode", ModuleMode)
def test_a_setting_is_read_back_as_it_was_kept(mode: ModuleMode) -> None:
    """MODULES §mode-deny-all: who set it, and when."""
    setting = ModeSetting(mode, OWNER, NOW)
    assert ModeSetting.from_json(setting.to_json()) == setting


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "off"},
        {"mode": "NORMAL"},
        {"mode": None},
        {"changedBy": "nobody in particular"},
        {"changedBy": ""},
        {"changedAt": "yesterday"},
        {"changedAt": None},
        {"more": 1},
    ],
    ids=str,
)
def test_a_setting_that_nobody_here_kept_is_not_believed(changes: dict[str, Any]) -> None:
    """MODULES §order-2: an unknown mode is an error, and not the normal one."""
    kept = ModeSetting(ModuleMode.DENY_ALL, OWNER, NOW).to_json()
    with pytest.raises(BadInput):
        ModeSetting.from_json({**kept, **changes})
    for name in kept:
        with pytest.raises(BadInput):
            ModeSetting.from_json({key: value for key, value in kept.items() if key != name})
