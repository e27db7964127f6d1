"""The curtain between a program and the terminal on which somebody is asked meanwhile."""

from collections.abc import Iterator
from threading import Thread

import pytest

from consentry.enforce.streams import Curtain

PATIENCE = 30


@pytest.fixture
def curtain() -> Iterator[Curtain]:
    """One that nobody obeys yet."""
    made = Curtain()
    yield made
    made.close()


def obey(curtain: Curtain) -> None:
    """As whoever stays with the run does, once."""
    curtain.obeyed(is_shut=curtain.wanted())


def test_it_is_shut_when_whoever_shows_the_output_says_so(curtain: Curtain) -> None:
    """Not before: until then something could still be drawn over the question."""
    assert not curtain.shut(0.01)
    assert not curtain.is_shut
    obey(curtain)
    assert curtain.shut(0.01)
    assert curtain.is_shut


def test_each_question_waits_for_its_own_word(curtain: Curtain) -> None:
    """Opened and shut again at once, the old word does not count for the new question."""
    curtain.shut(0.01)
    obey(curtain)
    curtain.open()
    assert not curtain.shut(0.01)
    obey(curtain)
    assert curtain.shut(0.01)


def test_it_waits_while_the_other_thread_comes_to_it(curtain: Curtain) -> None:
    """Whoever asks is woken by the word."""
    thread = Thread(target=lambda: obey(curtain) if curtain.fileno() >= 0 else None)
    curtain.shut(0.0)
    thread.start()
    assert curtain.shut(PATIENCE)
    thread.join()


def test_an_interrupt_is_the_question_s_while_there_is_one(curtain: Curtain) -> None:
    """And the program's before and after; one question's does not deny the next."""
    assert not curtain.interrupt()
    curtain.shut(0.01)
    obey(curtain)
    assert curtain.interrupt()
    assert curtain.is_interrupted
    curtain.open()
    obey(curtain)
    assert not curtain.is_interrupted
    assert not curtain.interrupt()


def test_a_program_that_ended_keeps_nobody_waiting(curtain: Curtain) -> None:
    """Whoever wanted to ask is told that there is nothing to ask about."""
    curtain.end()
    assert curtain.shut(PATIENCE)
    assert curtain.is_over
    assert not curtain.is_shut
