"""GUARD §deterministic, on two cores: the same answers in the same order, whatever one job does.

Jobs are expressions, because a worker imports nothing of the tests.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.enforce.worker import Job
from consentry.enforce.workerpool import (
    WORTH_A_WORKER,
    Failure,
    JobFailed,
    WorkerLimits,
    run_in_workers,
)

EVALUATE = "builtins:eval"
DIES = "__import__('os')._exit(3)"
OVERFLOWS = "__import__('ctypes').string_at(0)"
LOOPS = "sum(0 for _ in iter(int, 1))"
WAITS = "__import__('time').sleep(600)"
EATS = "b'x' * (1 << 40)"
PRINTS = "print('noise') or b'quiet'"
SHORT = WorkerLimits(seconds=1, memory=512 << 20)


def answers(
    *expressions: str, workers: int = 2, limits: WorkerLimits | None = SHORT
) -> list[object]:
    """What the jobs give when workers do them."""
    jobs = ((each,) for each in expressions)
    found = run_in_workers(
        EVALUATE, jobs, workers=workers, total_size=WORTH_A_WORKER, limits=limits
    )
    return list(found)


def children() -> set[str]:
    """The processes that this one has started and not yet buried."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split())


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    """Every test leaves as many children as it found, zombies counted."""
    before = children()
    yield
    assert children() <= before


def test_answers_are_those_of_this_process_in_the_order_of_the_jobs() -> None:
    """Two workers and a slow first job give what one process gives."""
    expressions = ["__import__('time').sleep(0.2) or b'slow'"]
    expressions += [f"repr(({n} ** 50, 'é')).encode()" for n in range(100)]
    jobs = [(each,) for each in expressions]
    here = list(run_in_workers(EVALUATE, jobs, workers=1, total_size=1 << 30))
    assert answers(*expressions) == here
    assert here[1:] == [repr((n**50, "é")).encode() for n in range(100)]


def test_a_thousand_small_jobs() -> None:
    """Many jobs go through few workers."""
    expressions = [f"b'{n}' + str(__import__('os').getpid() > 1).encode()" for n in range(1000)]
    assert answers(*expressions) == [b"%dTrue" % n for n in range(1000)]


def test_jobs_and_answers_larger_than_a_pipe() -> None:
    """Jobs of megabytes and answers of megabytes do not wait for each other for ever."""
    body = os.urandom(3 << 20)
    jobs: list[Job] = [(body + bytes([n]),) for n in range(6)]
    found = run_in_workers("binascii:hexlify", jobs, workers=2, total_size=18 << 20)
    assert list(found) == [(body + bytes([n])).hex().encode() for n in range(6)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (DIES, Failure.DIED),
        (OVERFLOWS, Failure.DIED),
        (LOOPS, Failure.TOO_LONG),
        (WAITS, Failure.TOO_LONG),
        (EATS, Failure.MEMORY),
        ("1 / 0", Failure.RAISED),
        ("'text'", Failure.RAISED),
        ("__import__('sys').exit(0)", Failure.DIED),
    ],
)
def test_a_job_that_ruins_its_worker_costs_that_job_alone(bad: str, reason: Failure) -> None:
    """Dying, looping, waiting, eating memory: the jobs before and after are answered."""
    good = [f"b'{n}'" for n in range(6)]
    found = answers(*good[:3], bad, *good[3:])
    failed = found.pop(3)
    assert isinstance(failed, JobFailed)
    assert failed.reason is reason
    assert found == [b"0", b"1", b"2", b"3", b"4", b"5"]


def test_every_job_may_kill_its_worker() -> None:
    """Nothing is left over when no worker survives a job."""
    found = answers(*[DIES] * 10)
    assert [each.reason for each in found if isinstance(each, JobFailed)] == [Failure.DIED] * 10


def test_what_a_job_prints_is_not_taken_for_an_answer() -> None:
    """Standard output of a job goes nowhere."""
    assert answers(PRINTS, "b'next'") == [b"quiet", b"next"]


def test_an_answer_beyond_the_limit_is_not_taken() -> None:
    """The bytes that one answer may have are bounded."""
    limits = WorkerLimits(seconds=5, answer=1000)
    large, small = answers("b'x' * 1001", "b'x' * 1000", limits=limits)
    assert isinstance(large, JobFailed)
    assert small == b"x" * 1000


def test_little_work_starts_no_process() -> None:
    """Below the size that is worth a worker, jobs run here."""
    jobs = [("str(__import__('os').getpid()).encode()",)]
    here = str(os.getpid()).encode()
    assert list(run_in_workers(EVALUATE, jobs, workers=2, total_size=WORTH_A_WORKER - 1)) == [here]
    assert list(run_in_workers(EVALUATE, jobs, workers=1, total_size=1 << 30)) == [here]
    assert answers(jobs[0][0]) != [here]


def test_here_too_a_job_that_raises_costs_that_job_alone() -> None:
    """In this process, what a job raises is its failure and no more."""
    jobs = [("1 / 0",), ("b'x' * (1 << 60)",), ("b'ok'",)]
    first, second, third = run_in_workers(EVALUATE, jobs, workers=1, total_size=0)
    assert first == JobFailed(Failure.RAISED, "ZeroDivisionError")
    assert second == JobFailed(Failure.MEMORY)
    assert third == b"ok"


def test_where_no_worker_starts_the_work_is_done_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An interpreter that cannot be started, or that ends at once, costs speed alone."""
    expected = [b"%d" % n for n in range(50)]
    expressions = [f"b'{n}'" for n in range(50)]
    monkeypatch.setattr("sys.executable", str(tmp_path / "missing"))
    assert answers(*expressions) == expected
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert answers(*expressions) == expected


def test_stopping_early_ends_the_workers() -> None:
    """Whoever stops listening, by Ctrl-C or otherwise, leaves no worker behind."""
    jobs = ((each,) for each in ["b'first'", *[WAITS] * 4])
    found = run_in_workers(EVALUATE, jobs, workers=2, total_size=WORTH_A_WORKER)
    before = children()
    assert next(found) == b"first"
    assert children() > before
    found.close()  # type: ignore[attr-defined]
    assert children() == before


def test_jobs_are_taken_a_little_ahead_and_no_further() -> None:
    """A million jobs are not all in memory because the first is slow."""
    taken: list[int] = []

    def jobs() -> Iterator[Job]:
        for number in range(10_000):
            taken.append(number)
            yield ("__import__('time').sleep(0.5) or b'slow'" if number == 0 else "b''",)

    found = run_in_workers(EVALUATE, jobs(), workers=2, total_size=WORTH_A_WORKER)
    assert next(found) == b"slow"
    assert len(taken) < 200
    found.close()  # type: ignore[attr-defined]


def test_workers_have_none_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker sees no variable of ours."""
    monkeypatch.setenv("A_TOKEN", "made-up")
    (seen,) = answers("repr(sorted(__import__('os').environ)).encode()")
    assert isinstance(seen, bytes)
    assert b"A_TOKEN" not in seen
