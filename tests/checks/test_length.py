"""Files over 500 lines fail, files over 300 are named."""

from checks import length
from checks.finding import Weight


def test_a_file_over_the_limit_fails(plant):
    """501 lines of Python are a failure at the line where it ends."""
    [finding] = length.check(plant({"src/long.py": "x = 1\n" * 501}))
    assert (finding.path, finding.line) == ("src/long.py", 501)
    assert finding.weight is Weight.FAILURE


def test_a_file_of_exactly_the_limit_is_only_a_warning(plant):
    """500 lines are within the limit, and over what is meant."""
    [finding] = length.check(plant({"src/longish.py": "x = 1\n" * 500}))
    assert finding.weight is Weight.WARNING


def test_a_file_of_the_length_that_is_meant_passes(plant):
    """300 lines give no finding, and neither does a long file that is not Python."""
    assert not list(length.check(plant({"src/a.py": "x = 1\n" * 300, "docs/b.md": "b\n" * 900})))
