"""Who keeps images and containers: asked whether an image is there, given one, told to end a container.

The one way to do so by commands; a driver may have a quicker one.
"""

import subprocess
from collections.abc import Mapping
from typing import Final, Protocol

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.engines.container.image import LABEL, Image

_PATIENCE: Final = 60.0


class Keeper(Protocol):
    """Who keeps images and containers."""

    def has_image(self, name: str) -> bool:
        """Whether an image of that name is there."""
        ...

    def import_image(self, image: Image) -> None:
        """Makes it; raises with why not."""
        ...

    def signal_container(self, name: str, number: int) -> bool:
        """To its first process; false where that does not run."""
        ...

    def end_container(self, name: str) -> None:
        """Kills and removes it; nothing, where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class CommandKeeper:
    """By the command itself, with nothing of our environment but what is named."""

    program: str
    environment: Mapping[str, str]

    def has_image(self, name: str) -> bool:
        """Whether an image of that name is there."""
        return self._status("image", "inspect", "--format={{.Id}}", name) == 0

    def import_image(self, image: Image) -> None:
        """Makes the image from its archive; raises with what the command said."""
        label = f"--change=LABEL {LABEL}.image=1"
        self.said("import", label, "-", image.name, given=image.archive)

    def signal_container(self, name: str, number: int) -> bool:
        """To its first process; false where that does not run."""
        return self._status("kill", f"--signal={number}", name) == 0

    def end_container(self, name: str) -> None:
        """Kills and removes it; nothing, where there is none."""
        self._status("rm", "--force", "--volumes", name)

    def said(self, *words: str, given: bytes = b"") -> str:
        """What a command prints; raises where it fails."""
        ended = self._ended(words, given)
        if ended is None or ended.returncode != 0:
            said = [] if ended is None else ended.stderr.strip().splitlines()
            why = said[-1].decode("utf-8", "replace") if said else "no answer"
            raise Refused(Code.ENGINE_FAILED, f"`{self.program} {words[0]}`: {why}")
        return ended.stdout.decode("utf-8", "replace").strip()

    def _status(self, *words: str) -> int:
        ended = self._ended(words, b"")
        return -1 if ended is None else ended.returncode

    def _ended(
        self, words: tuple[str, ...], given: bytes
    ) -> "subprocess.CompletedProcess[bytes] | None":
        try:
            return subprocess.run(  # noqa: S603 - the program that was looked at
                [self.program, *words],
                input=given,
                capture_output=True,
                env=dict(self.environment),
                cwd="/",
                timeout=_PATIENCE,
                start_new_session=True,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
