"""The engine `docker` with an image that the user names: the way that runs on macOS as well.

It needs nothing of the caller's kernel. What it holds is what the daemon's own options hold, shown by
attacks inside such a container, with what the image has: Python, or else a shell. Of a program nothing
is copied or hashed; image and path are recorded, and nothing of the host is in the container but the
grants. Nothing of ours runs inside, so there is no layer, no list of programs, and nobody watches.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement, ProgramImage
from consentry.enforce.engine import Outcome, Probe
from consentry.enforce.engines.container.daemon import Daemon
from consentry.enforce.engines.container.folder import DriversFolder
from consentry.enforce.engines.container.keeper import CommandKeeper
from consentry.enforce.engines.container.namedbox import NamedBox, Starting
from consentry.enforce.engines.container.namedimage import (
    NamedImage,
    find_in_image,
    no_such_image,
    require_image_name,
)
from consentry.enforce.engines.container.namedoutcome import outcome_of, require_started
from consentry.enforce.engines.container.namedplan import (
    NamedGround,
    NamedPlan,
    compile_named,
    require_same,
    require_uncovered,
)
from consentry.enforce.engines.container.namedprobe import try_out_image
from consentry.enforce.engines.container.namedwords import DIALECT, container_of
from consentry.enforce.engines.container.words import run_words
from consentry.enforce.engines.dockercommand import DockerCommand
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.interface import Compiled
from consentry.enforce.engines.rememberedprobe import RememberedProbe
from consentry.enforce.facts import HostView
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.native.otherids import FIRST, ids_behind_root
from consentry.enforce.native.probe import Trial
from consentry.enforce.native.streamends import Io, StreamEnds
from consentry.enforce.native.supervisor import Bounds, Supervisor
from consentry.enforce.required import require_nothing_held
from consentry.enforce.sealing import SealedFile, require_permitted
from consentry.enforce.usage import Control as Limited

NAME: Final = "docker"
_KIND: Final = "image-docker"
# Keys that nobody types: what is typed is the program's, and nobody lets go of it by keys.
_NO_DETACHING: Final = "--detach-keys=ctrl-],ctrl-^,ctrl-_,ctrl-],ctrl-^,ctrl-_,ctrl-]"


class NamedImageEngine:
    """Containers of one image; threads may share it."""

    name = NAME

    def __init__(self, ground: EngineGround, image: str) -> None:
        self._ground = ground
        self._named = require_image_name(image)
        self._docker = DockerCommand(ground)
        self._uid = os.getuid()
        self._image: NamedImage | None = None
        self._folder: DriversFolder | None = None
        self._trial: Trial | None = None
        self._looked_into: str | None = None
        self._behind: dict[str, str] = {}
        self._one_at_a_time = Lock()

    def missing(self) -> str | None:
        """No command, or no daemon of this host's that is open to this user."""
        return self._docker.missing()

    @property
    def image(self) -> NamedImage:
        """The image, resolved when it is first asked for, and the same one ever after."""
        if self._image is None:
            why = self.missing()
            if why is not None:
                message = f"the engine `{NAME}` is not here: {why}"
                raise Refused(Code.NOT_ENFORCEABLE, message)
            told = self._daemon.image(self._named)
            if told is None:
                raise no_such_image(self._named)
            self._image = NamedImage.of(self._named, told)
        return self._image

    @property
    def program_image(self) -> ProgramImage:
        """The image, as a confinement and a record name it."""
        return ProgramImage(self.image.name, self.image.digest)

    @property
    def _daemon(self) -> Daemon:
        return Daemon(self._docker.socket)

    def find(self, word: str) -> str:
        """Where the image has a program; looked for in a container that never runs."""
        image, folder = self.image, self._ready()
        with self._one_at_a_time:
            if self._looked_into is None:
                name = f"consentry-{os.urandom(8).hex()}"
                folder.of_run(name)
                words = ("create", "--pull=never", f"--name={name}", "--network=none")
                self._keeper(folder).said(*words, "--entrypoint=/", image.digest)
                self._looked_into = name
        name = self._looked_into
        found = find_in_image(image, word, lambda path: self._daemon.file(name, path))
        self._behind[found.path] = found.real
        return found.path

    def probe(self) -> Probe:
        """What was shown, now or once before with this image and this daemon."""
        kept = RememberedProbe(
            f"{NAME}-{self.image.digest[7:19]}",
            self._docker.path,
            self._ground.state,
            self._uid,
            f"{self.image.digest} {self._docker.depends_on()}",
        )
        known = kept.read()
        if known is None:
            known = self.try_out().probe
            kept.write(known)
        return Probe(NAME, known.held, known.lacking)

    def try_out(self) -> Trial:
        """The same, shown now; carried out once."""
        if self._trial is None:
            self._trial = try_out_image(
                NAME, self.program_image, self._tried, self.find, for_others=self._uid == 0
            )
        return self._trial

    def _tried(self, wanted: Confinement) -> Outcome:
        """A run of our own attacks, which need no permit; nothing else comes this way."""
        plan = compile_named(wanted, self.image, self._about(), None)
        return self._run(plan, Io(keeps=True), lambda: None)

    def compile(self, wanted: Confinement) -> NamedPlan:
        """Its own plan; raises `NotEnforceable` with what it lacks."""
        require_nothing_held(NAME, wanted)
        self._docker.require_apart_from(wanted.workspace)
        if wanted.program.image != self.program_image:
            raise ValueError("the program was found in another image")
        plan = compile_named(wanted, self.image, self._about(), self.probe())
        path = str(wanted.program.path)
        require_uncovered((path, self._behind.get(path, path)), plan)
        return plan

    def _about(self) -> NamedGround:
        ground = self._ground
        return NamedGround(NAME, self._uid, ground.home, ground.protected, self._daemon.about())

    def is_current(self, plan: Compiled) -> bool:  # noqa: ARG002 - of an interface
        """What lies in the granted places is looked at anew for each run."""
        return False

    def launch(
        self,
        plan: Compiled,
        permitted: Callable[[], Permit],
        sealed: Sequence[SealedFile],
        io: Io,
        state: Path | None = None,  # noqa: ARG002 - it has no layer that could lie there
    ) -> Outcome:
        """Runs it to its end, from the very image that the permit names."""
        if not isinstance(plan, NamedPlan):
            raise TypeError(f"compiled by another engine: {type(plan).__name__}")

        def allowed() -> None:
            permit = permitted()
            require_permitted(permit, plan.wanted, sealed)
            if permit.order.digests.get(str(plan.wanted.program.path)) != plan.image.digest:
                message = f"`{permit.permit_id}` does not name the image `{plan.image.name}`"
                raise Refused(Code.PERMIT_REFUSED, f"{message}, so nothing was started")

        return self._run(plan, io, allowed)

    def _run(self, plan: NamedPlan, io: Io, allowed: Callable[[], None]) -> Outcome:
        with Uninterrupted() as interrupts:
            streams = StreamEnds.of(io)
            try:
                box = self._made(plan, io, streams)
            except BaseException:
                streams.close()
                for pipe in streams.pipes:
                    pipe.close()
                raise
            limits, seconds = plan.wanted.limits, plan.limits.limit(Limited.CPU)
            bounds = Bounds(
                limits.wall_seconds, limits.output_bytes, lambda: box.sample(seconds), box.pause
            )
            io.supervisor = Supervisor(box, bounds, streams.pipes, io.terminal, io.ends)
            try:
                with interrupts.let_through():
                    allowed()
                box.go_on()
                supervised = io.supervisor.stay()
            except BaseException:
                io.supervisor.give_up()
                raise
            require_started(supervised, streams.pipes)
            return outcome_of(plan, supervised, streams.pipes)

    def _made(self, plan: NamedPlan, io: Io, streams: StreamEnds) -> NamedBox:
        driver, terminal = self._ready(), io.terminal
        self._look_away()
        folder = driver.of_run(f"consentry-{os.urandom(8).hex()}")
        name, docker = folder.path.name, self._docker.path
        has_input = io.stdin is not None or (terminal is not None and terminal.typed is not None)
        has_terminal = terminal is not None and streams.files[0] == terminal.its
        try:
            require_same(plan.items)
            container = container_of(
                plan, folder, self._ids(), has_input=has_input, has_terminal=has_terminal
            )
            self._keeper(driver).said(*run_words(container, DIALECT))
            attached = ("--attach", _NO_DETACHING, *(("--interactive",) if has_input else ()))
            starting = Starting(
                (docker, "start", *attached, name),
                (docker, "rm", "--force", "--volumes", name),
                self._docker.environment(driver.settings),
                os.ttyname(streams.files[0]) if has_terminal else None,
            )
            return NamedBox(starting, folder, self._daemon, streams)
        except BaseException:
            with suppress(Refused):
                self._daemon.remove(name)
            folder.remove()
            raise

    def _look_away(self) -> None:
        """So that a run has one container, which whoever outlives us knows of."""
        with self._one_at_a_time:
            name, self._looked_into = self._looked_into, None
        if name is not None:
            with suppress(Refused):
                self._daemon.remove(name)

    def _ids(self) -> tuple[int, int]:
        """Those of the caller; a root caller's program is a user that the host does not have."""
        if self._uid != 0:
            return self._uid, os.getgid()
        nobody = ids_behind_root(HostView()) if sys.platform == "linux" else FIRST
        return nobody, nobody

    def _keeper(self, folder: DriversFolder) -> CommandKeeper:
        return CommandKeeper(self._docker.path, self._docker.environment(folder.settings))

    def _ready(self) -> DriversFolder:
        with self._one_at_a_time:
            if self._folder is None:
                # Whoever speaks to another daemon would find none of these containers to end.
                daemon = hashlib.sha256(self._docker.socket.encode()).hexdigest()[:12]
                self._folder = DriversFolder(f"{_KIND}-{daemon}")
                self._folder.sweep(self._end)
            return self._folder

    def _end(self, name: str) -> None:
        """Of a sweep; what cannot be removed now stays for the next one."""
        if not self._daemon.remove(name):
            raise OSError(f"`{name}` could not be removed")

    def close(self) -> None:
        """Ends what is left, and removes its folder."""
        with self._one_at_a_time:
            if self._folder is not None:
                self._folder.close(self._end)
                self._folder = self._looked_into = None
