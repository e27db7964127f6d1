# must-not: ALL
import pytest

@pytest.fixture
def number():
    return 1

@pytest.mark.parametrize("x", [1, 2])
def check(x, number):
    assert x
