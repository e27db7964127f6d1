"""How long the guard takes: beside plain parsing, from the cache, and from a cold process."""

import ast
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory

from bench.guardcorpus import Reading
from bench.processes import descendants, memory_bytes, status_of
from bench.report import Sample, interleaved
from consentry.examine.filekinds import FileKind
from consentry.examine.tabledigest import tables_digest
from consentry.service.extracting import Extractor, read_one
from consentry.service.extractioncache import ExtractionCache
from tests.examine.diff.gitdiffs import Entry, Tree, new_repository

_UNREAD = (SyntaxError, ValueError, RecursionError, MemoryError)
_BLINK = 0.05

CONSENTRY = str(Path(sys.executable).with_name("consentry"))


@dataclass(frozen=True, slots=True)
class Read:
    """Processor nanoseconds of each round, and what extraction could not tell."""

    parsing: Sample
    extracting: Sample
    unclassified: tuple[str, ...]


def parsing_and_extracting(contents: Sequence[bytes], rounds: int) -> Read:
    """Both on one core, in turns, file by file; extraction parses, too."""
    warnings.simplefilter("ignore")
    parsing: list[int] = []
    extracting: list[int] = []
    reasons: list[str] = []
    for number in range(rounds):
        parsed = extracted = 0
        for content in contents:
            began = time.process_time_ns()
            _parse(content)
            between = time.process_time_ns()
            extraction = read_one(FileKind.PYTHON, content)
            ended = time.process_time_ns()
            parsed += between - began
            extracted += ended - between
            if number == 0:
                reasons += [each.reason for each in extraction.unclassified]
        parsing.append(parsed)
        extracting.append(extracted)
    return Read(_sample(parsing), _sample(extracting), tuple(reasons))


def _parse(content: bytes) -> None:
    try:
        ast.parse(content)
    except _UNREAD:
        return


def _sample(values: Sequence[int]) -> Sample:
    # Quantiles want two values at least.
    return Sample("", tuple(values) if len(values) > 1 else (*values, *values))


def first_and_second(reading: Reading, workers: int, rounds: int) -> tuple[Sample, Sample]:
    """Wall nanoseconds of reading all of it with an empty cache, and again with what that left."""
    jobs = [(FileKind.PYTHON, content) for content in reading.contents()]
    taken: tuple[list[int], list[int]] = ([], [])
    for _ in range(rounds):
        with TemporaryDirectory() as folder:
            for times in taken:
                began = time.perf_counter_ns()
                extractor = Extractor(lambda: _cache(Path(folder)), workers=workers)
                extractor(jobs)
                times.append(time.perf_counter_ns() - began)
    return _sample(taken[0]), _sample(taken[1])


def _cache(folder: Path) -> ExtractionCache:
    return ExtractionCache(folder / "cache", folder / "key", tables_digest())


def most_memory(words: Sequence[str], environ: Mapping[str, str]) -> tuple[int, int]:
    """The most that a command and those that it started had at a time, and its exit status."""
    most = 0
    with Popen(words, env=environ, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL) as running:
        while running.poll() is None:
            most = max(most, memory_bytes([running.pid, *descendants(running.pid)]))
            time.sleep(_BLINK)
    return most, running.returncode


@dataclass(frozen=True, slots=True)
class Prepared:
    """The same change as a bundle and as two commits."""

    repository: Path
    between: str
    bundle: Path
    lines: int


def prepared_change(folder: Path) -> Prepared:
    """Five modules, each with a fifth of the lines added."""
    before = _modules(20)
    after = _modules(30)
    repository = new_repository(folder)
    first, second = repository.commit(before), repository.commit(after)
    diff = repository.git("diff", "--binary", first, second)
    bundle = folder / "bundle"
    for side, tree in (("base", before), ("after", after)):
        (bundle / side).mkdir(parents=True)
        for path, entry in tree.items():
            (bundle / side / path.decode()).write_bytes(entry.content)
    (bundle / "patch.diff").write_bytes(diff)
    (bundle / "touched_paths").write_text("".join(f"{path.decode()}\n" for path in before))
    names = [each.removeprefix("refs/heads/") for each in (first, second)]
    lines = sum(line.startswith((b"+", b"-")) for line in diff.splitlines()) - 2 * len(before)
    return Prepared(repository.folder, "..".join(names), bundle, lines)


def _modules(functions: int) -> Tree:
    head = "import json\nimport re\nfrom collections import Counter\nfrom pathlib import Path\n"
    return {
        f"module{number}.py".encode(): Entry(
            (head + "".join(_FUNCTION.format(each) for each in range(functions))).encode()
        )
        for number in range(5)
    }


_FUNCTION = """

def counted_{0}(path, limit={0}):
    text = Path("data", path).read_text(encoding="utf-8")
    words = re.findall(r"[a-z]+", text.lower())
    counts = Counter(word for word in words if len(word) > limit)
    most = [word for word, count in counts.most_common(limit or 10)]
    most.sort(key=len)
    return json.dumps({{"file": str(path), "words": most}}, indent=2)

"""


def cold(change: Prepared, environ: Mapping[str, str], rounds: int) -> dict[str, Sample]:
    """Wall time of whole processes, in turns."""
    guard = [CONSENTRY, "guard"]
    commands = {
        "bare": [sys.executable, "-I", "-c", "pass"],
        "bundle": [*guard, "--bundle", str(change.bundle)],
        "range": [*guard, "--repository", str(change.repository), change.between],
        "json": [*guard, "--json", "--repository", str(change.repository), change.between],
    }
    for name, words in commands.items():
        status = status_of(words, environ)
        if status != 0:
            raise RuntimeError(f"{name}: `{' '.join(words)}` ended with {status}, not with PASS")
    return interleaved(
        rounds,
        **{name: lambda words=words: status_of(words, environ) for name, words in commands.items()},
    )
