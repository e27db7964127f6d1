"""What two sources saw of a run becomes one figure each: the better vouched for, or the greater."""

from consentry.enforce.usage import Control, Exceeded, Usage
from consentry.enforce.violations import Truth


def test_the_kernels_figure_wins_over_a_greater_sample() -> None:
    """A sample may count twice what is shared; the kernel does not."""
    kernel = Usage(memory_bytes=100, memory_truth=Truth.KERNEL)
    sampled = Usage(memory_bytes=150, cpu_seconds=2.0)
    for joined in (kernel.joined(sampled), sampled.joined(kernel)):
        assert (joined.memory_bytes, joined.memory_truth) == (100, Truth.KERNEL)
        assert (joined.cpu_seconds, joined.cpu_truth) == (2.0, Truth.OBSERVED)


def test_of_two_samples_the_greater_is_kept() -> None:
    """Each is the most that was seen, so the most of both is."""
    joined = Usage(1.0, 10, 3, kills=1).joined(Usage(0.5, 20, 2, refusals=4))
    assert joined == Usage(1.0, 20, 3, kills=1, refusals=4)


def test_a_limit_that_was_gone_over_is_told_in_words() -> None:
    """With the name it has in a profile, the limit, and how far the run came."""
    assert str(Exceeded(Control.CPU, 10, 10.5)) == "cpu_seconds 10.5, the limit is 10"
