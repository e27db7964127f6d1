"""What a container of a named image really holds here, shown inside one of that very image.

With a Python in the image, by the attacks of the score-card. Without one, by a shell: it tries what a
shell can try and reads what the kernel says of it; that shows less, and which controls were shown so
is what can be claimed. With neither, nothing is shown, and nothing runs.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from consentry.base.errors import ConsentryError, Refused
from consentry.base.values import replace
from consentry.enforce.confinement import Confinement, Limits, Program, ProgramImage
from consentry.enforce.engine import Control, Held, Lacking, Outcome, Probe
from consentry.enforce.engines.container.namedplan import HELD, LACKS
from consentry.enforce.native.probe import (
    Launch,
    Trial,
    last_line,
    launched,
    nothing_held,
    shown_by,
)
from consentry.enforce.scorecard import ENVIRONMENT, LIMITS, Ground, ScoreCard
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern

_LASTING: Final = "/var/tmp"  # noqa: S108 - folders are made there, never guessed
_PYTHON, _SHELL = "python3", "sh"
_LIMIT_CONTROLS: Final = frozenset({
    Control.CPU, Control.MEMORY, Control.PROCESSES, Control.FILE_SIZE,
    Control.OUTPUT, Control.WALL_TIME, Control.DESCRIPTORS,
})  # fmt: skip
_NO_ATTACKER: Final = "name an image with `python3` or `sh` in it, so that it can be tried"
_SET_BY_SHELLS: Final = frozenset({"PWD", "OLDPWD", "SHLVL", "_"})
# Each line: the control, and `held` or what was reached.
_BY_SHELL: Final = r"""
says() { printf '%s %s\n' "$1" "$2"; }
field() { while read -r name value _; do [ "$name" = "$1:" ] && printf %s "$value"; done \
    </proc/self/status; }
(: <"$1") 2>/dev/null && says reads reached || says reads held
(: >>"$2") 2>/dev/null && says writes reached || says writes held
(: >"$4/made") 2>/dev/null || says writes unwritable
(: <"$3/file") 2>/dev/null && says deny-inside reached || says deny-inside held
found=held
while read -r name _; do case $name in *:) [ "$name" = lo: ] || found=reached;; esac; done \
    </proc/net/dev
says no-network $found
found=held; started=$5; hidden=$6
for stat in /proc/[0-9]*/stat; do
    read -r line <"$stat" || continue
    set -- ${line##*) }; shift 19; [ "$1" = "$started" ] && found=reached
done 2>/dev/null
says processes-apart $found
found=held
said=" $(export -p) "
for name in $hidden; do case $said in *[\ \']"$name"[=\ \']*) found=reached;; esac; done
says environment $found
[ "$(field Seccomp)" = 2 ] && says system-calls held || says system-calls reached
[ "$(field NoNewPrivs)$(field CapEff)$(field CapBnd)" = 100000000000000000000000000000000 ] &&
    says no-new-powers held || says no-new-powers reached
"""

FindProgram = Callable[[str], str]


def try_out_image(
    engine: str, image: ProgramImage, launch: Launch, find: FindProgram, *, for_others: bool
) -> Trial:
    """Carries it out; never raises for what a host or an image lacks."""
    try:
        for word, tried in ((_PYTHON, _by_attacks), (_SHELL, _by_shell)):
            program = _found(find, word)
            if program is not None:
                with Ground(os.path.realpath(_LASTING), for_others=for_others) as ground:
                    if for_others:
                        # What the trial may write is its own, and is written by another user.
                        ground.writable.chmod(0o777)
                    return tried(engine, _confined(ground, program, image), ground, launch)
    except Refused as problem:
        return Trial(nothing_held(engine, problem.message, problem.help_line))
    except OSError as problem:
        help_line = f"make room in {_LASTING}, or the right to write it"
        return Trial(nothing_held(engine, str(problem), help_line))
    why = f"the image `{image.name}` has neither `{_PYTHON}` nor `{_SHELL}` to try it with"
    return Trial(nothing_held(engine, why, _NO_ATTACKER))


def _found(find: FindProgram, word: str) -> Path | None:
    try:
        return Path(find(word))
    except ConsentryError:
        return None


def _confined(ground: Ground, program: Path, image: ProgramImage) -> Confinement:
    surface = Surface.of(read=["./"], write=["./writable/", "/tmp/"], run=Level.ANY)  # noqa: S108
    return Confinement(
        surface=surface,
        workspace=ground.workspace,
        program=Program(program, (str(program),), ground.workspace, image=image),
        environment=ENVIRONMENT,
        denied=(Pattern.parse("./denied/"),),
        writes=Writes.DIRECT,
        limits=replace(LIMITS, written_bytes=Limits().written_bytes),
    )


def _by_attacks(engine: str, wanted: Confinement, ground: Ground, launch: Launch) -> Trial:
    words = ground.words(wanted.program.path)
    outcome, unlimited = launched(launch, _with_words(wanted, words))
    unpromised = frozenset(each.control.value for each in (*LACKS, *unlimited))
    try:
        card = ScoreCard.of(outcome.stdout, outcome.limit, unpromised)
    except ValueError:
        return Trial(nothing_held(engine, f"the probe gave no answer: {last_line(outcome)}", ""))
    shown = list(shown_by(card, ground, outcome, is_written=True))
    return Trial(_probe(engine, shown, unlimited), card)


def _by_shell(engine: str, wanted: Confinement, ground: Ground, launch: Launch) -> Trial:
    bait = ground.bait()
    places = (bait["hidden"], bait["granted"], str(ground.denied.parent), str(ground.writable))
    names = " ".join(sorted({*bait["names"]} - _SET_BY_SHELLS))
    words = (str(wanted.program.path), "-c", _BY_SHELL, "probe", *places, str(bait["started"]))
    outcome, unlimited = launched(launch, _with_words(wanted, (*words, names)))
    if not ground.is_as_it_was(is_written=True):
        return Trial(nothing_held(engine, "what was written in the box is in the workspace", ""))
    return Trial(_probe(engine, [*_told(outcome)], unlimited))


def _told(outcome: Outcome) -> Iterator[Held | Lacking]:
    lines = outcome.stdout.decode("utf-8", "replace").splitlines()
    said = [tuple(line.split(" ", 1)) for line in lines if " " in line]
    for claim in (*HELD, *outcome.held):
        answers = {answer for control, answer in said if control == claim.control}
        if answers == {"held"} or claim.control in _LIMIT_CONTROLS:
            yield replace(claim, mechanism=claim.mechanism.partition(": ")[0])
        elif claim in HELD:
            why = "a shell reached it" if answers else f"no answer: {last_line(outcome)}"
            yield Lacking(claim.control, why, "report this: such a container should hold it")


def _probe(engine: str, shown: Sequence[Held | Lacking], unlimited: Sequence[Lacking]) -> Probe:
    held = {each.control: each for each in shown if isinstance(each, Held)}
    broken = tuple(each for each in shown if isinstance(each, Lacking))
    return Probe(engine, tuple(held.values()), (*broken, *LACKS, *unlimited))


def _with_words(wanted: Confinement, words: tuple[str, ...]) -> Confinement:
    return replace(wanted, program=replace(wanted.program, words=words))
