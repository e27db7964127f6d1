"""What containers are given: files of one run, and files that all runs have alike."""

from pathlib import Path
from threading import Thread

from consentry.enforce.engines.container.folder import DriversFolder


def test_what_is_alike_is_made_once_and_goes_with_the_driver() -> None:
    """Two runs at once have the same whole file; the end of one of them leaves it to the other."""
    driver = DriversFolder("tested")
    content = b"profile" * 10_000
    places: list[str] = []
    try:
        runs = [driver.of_run(f"consentry-{number}") for number in range(8)]
        threads = [
            Thread(target=lambda run=run: places.append(run.share(content, 0o444))) for run in runs
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(places) == len(runs)
        assert len(set(places)) == 1
        for run in runs:
            run.remove()
        assert Path(places[0]).read_bytes() == content
        assert Path(places[0]).stat().st_mode & 0o777 == 0o444
    finally:
        ended: list[str] = []
        driver.close(ended.append)
    assert ended == []
    assert not Path(places[0]).exists()


def test_another_content_or_mode_is_another_file() -> None:
    """Nobody is given what somebody else may read or start."""
    driver = DriversFolder("tested")
    try:
        run = driver.of_run("consentry-1")
        made = {
            run.share(b"one", 0o444),
            run.share(b"one", 0),
            run.share(b"two", 0o444),
            run.share(b"one", 0o444),
        }
        assert len(made) == 3
    finally:
        driver.close(lambda _: None)
