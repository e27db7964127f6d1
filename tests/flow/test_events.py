"""Listeners and streams: everybody is told, nobody can break or hold up an execution."""

from threading import Thread

from consentry.flow.events import MOST_KEPT, Listeners


def test_listeners_and_streams_are_told_in_order() -> None:
    """From the moment they came; one that was taken off hears no more."""
    listeners: Listeners[int] = Listeners()
    heard: list[int] = []
    listeners.tell(0)
    remove = listeners.add(heard.append)
    with listeners.stream() as stream:
        for number in (1, 2):
            listeners.tell(number)
        remove()
        listeners.tell(3)
        assert [stream.get(), stream.get(), stream.get()] == [1, 2, 3]
        assert stream.get(timeout=0.01) is None
    assert heard == [1, 2]


def test_a_listener_that_raises_breaks_nothing() -> None:
    """The others are told all the same, and what it raised is kept."""
    listeners: Listeners[int] = Listeners()
    heard: list[int] = []

    def broken(number: int) -> None:
        raise RuntimeError(f"cannot hear {number}")

    listeners.add(broken)
    listeners.add(heard.append)
    listeners.tell(1)
    assert heard == [1]
    [failure] = listeners.failures
    assert (failure.about, str(failure.error)) == (1, "cannot hear 1")


def test_iterating_ends_when_the_stream_is_closed() -> None:
    """What was told before is read to the end."""
    listeners: Listeners[int] = Listeners()
    stream, read = listeners.stream(), list[int]()
    reader = Thread(target=lambda: read.extend(stream))
    reader.start()
    listeners.tell(1)
    listeners.tell(2)
    listeners.close()
    reader.join(30)
    assert read == [1, 2]
    listeners.tell(3)
    assert stream.get() is None


def test_a_stream_that_nobody_reads_drops_the_oldest() -> None:
    """And counts them; whoever tells does not wait."""
    listeners: Listeners[int] = Listeners()
    stream = listeners.stream()
    for number in range(MOST_KEPT + 2):
        listeners.tell(number)
    assert (stream.get(), stream.dropped) == (2, 2)
