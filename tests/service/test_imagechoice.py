"""Who names an image, and what is said where one has to be named (CONSENT §sandbox-3)."""

from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.declare.profile import EngineName
from consentry.service.enginechoice import EngineWish
from consentry.service.imagechoice import chosen_image
from consentry.service.surroundings import Surroundings

AUTO, NATIVE, DOCKER = EngineName.AUTO, EngineName.NATIVE, EngineName.DOCKER


def _around(image: str | None = None) -> Surroundings:
    return Surroundings({} if image is None else {"CONSENTRY_IMAGE": image}, Path("/"), 1)


def test_on_linux_an_image_is_taken_only_where_docker_is_meant() -> None:
    """By the line, or by the setting together with the engine."""
    assert chosen_image(EngineWish(), None, _around("set"), "linux") is None
    assert chosen_image(EngineWish(NATIVE), None, _around("set"), "linux") is None
    assert chosen_image(EngineWish(NATIVE, DOCKER), None, _around("set"), "linux") is None
    assert chosen_image(EngineWish(DOCKER), None, _around(), "linux") is None
    assert chosen_image(EngineWish(DOCKER), None, _around("set"), "linux") == "set"
    assert chosen_image(EngineWish(DOCKER), "typed", _around("set"), "linux") == "typed"
    assert chosen_image(EngineWish(), "typed", _around(), "linux") == "typed"


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_docker_is_the_engine(platform: str) -> None:
    """`auto` and a fallback lead there; every other engine is refused by its name."""
    for wish in (EngineWish(), EngineWish(DOCKER), EngineWish(NATIVE, DOCKER)):
        assert chosen_image(wish, None, _around("set"), platform) == "set"
        assert chosen_image(wish, None, _around("set"), platform) == "set"
        with pytest.raises(ConsentryError) as found:
            chosen_image(wish, None, _around(), platform)
        assert found.value.code is Code.NOT_ENFORCEABLE
        said = f"{found.value.message} {found.value.help_line}"
        for word in ("`docker`", "--image", "CONSENTRY_IMAGE", "Windows Sandbox is not supported"):
            assert word in said
    with pytest.raises(ConsentryError, match="`native` runs on Linux alone"):
        chosen_image(EngineWish(NATIVE), None, _around("set"), platform)


def test_an_image_for_another_engine_is_a_mistake() -> None:
    """Of the line, said before anything is looked for."""
    with pytest.raises(ConsentryError) as found:
        chosen_image(EngineWish(EngineName.PODMAN), "typed", _around(), "linux")
    assert found.value.code is Code.USAGE
