"""What a call of the library wishes for, as a command line would; a profile is found before."""

from collections.abc import Sequence
from typing import Final

from consentry.declare.profile import EngineName
from consentry.service.calloptions import CodeOptions, ExecOptions
from consentry.service.commandline import RunWish
from consentry.service.givenvalues import Word, one_of, words_of, wrong
from consentry.service.profiles import NamedProfile
from consentry.service.snippetruns import CodeWish
from consentry.surface.modes import Denials, LayerPlace, View

NAME: Final = "snippet.py"


def words_to_run(argv: Sequence[Word]) -> tuple[str, ...]:
    """The program and its arguments."""
    words = words_of("argv", argv)
    if not words:
        raise wrong("`argv` has no program in it")
    return words


def run_wish(words: tuple[str, ...], options: ExecOptions, profile: NamedProfile | None) -> RunWish:
    """A program, and what the call says of it."""
    return RunWish(
        words=words,
        permission_set=options.named_set(),
        profile=profile,
        read=words_of("read", options.read),
        write=words_of("write", options.write),
        execute=words_of("programs", options.programs),
        environment=words_of("environment", options.environment),
        network=words_of("network", options.network),
        secrets=words_of("secrets", options.secrets),
        secret_ca=options.named_ca(),
        view=one_of("view", options.view, View),
        layer=one_of("layer", options.layer, LayerPlace),
        engine=one_of("engine", options.engine, EngineName),
        denials=Denials.ATTESTED if options.attest else Denials.OBSERVED,
        limits=options.limits(),
        holds=options.told_of() is not None,
    )


def code_wish(source: str | bytes, options: CodeOptions, profile: NamedProfile | None) -> CodeWish:
    """A snippet, and what the call says of it."""
    try:
        content = source.encode() if isinstance(source, str) else bytes(source)
    except UnicodeEncodeError:
        raise wrong("`source` has a letter that is no Unicode") from None
    arguments = options.arguments or {}
    if not all(isinstance(name, str) for name in arguments):
        raise wrong("`arguments` has a name that is no text")
    return CodeWish(
        source=content,
        name=NAME,
        permission_set=options.named_set(),
        profile=profile,
        read=words_of("read", options.read),
        network=words_of("network", options.network),
        secrets=words_of("secrets", options.secrets),
        secret_ca=options.named_ca(),
        preload=words_of("preload", options.preload),
        arguments=dict(arguments),
        limits=options.limits(),
    )
