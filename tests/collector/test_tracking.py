"""TrackingManager: several backends, each served whatever the others do."""

import pytest

from driftgate import TrackingManager


class Recorder:
    def __init__(self):
        self.calls = []

    def log(self, metrics, step=None):
        self.calls.append((dict(metrics), step))

    def finish(self):
        self.calls.append("finish")


class Broken:
    """Changes what it is given, then raises."""

    def __init__(self, error):
        self.error = error

    def log(self, metrics, **_):
        metrics.clear()
        raise self.error

    def finish(self):
        raise self.error


@pytest.mark.parametrize("error", [TypeError("a"), ValueError("b"), OSError("c"), RuntimeError("d")], ids=repr)
@pytest.mark.parametrize("strict", ["0", "1"])
def test_a_backend_that_raises_never_stops_its_siblings_or_the_training(
    make_collector, read_lines, capsys, error, strict
):
    """Ordinary content: every other backend gets all of it, finish() included; the failure is one warning each."""
    before, after = Recorder(), Recorder()
    manager = TrackingManager([before, Broken(error), make_collector(DRIFTGATE_STRICT=strict), after])
    manager.log({"m": 1.0}, step=0)
    manager.log({"m": 2.0}, step=1)
    manager.finish()
    assert before.calls == after.calls == [({"m": 1.0}, 0), ({"m": 2.0}, 1), "finish"]
    assert [line["series"] for line in read_lines()] == [[[0, 1.0]], [[1, 2.0]]]
    err = capsys.readouterr().err.splitlines()
    assert [line.split(" raised ")[0] for line in err] == [
        "driftgate: warning: Broken.log()",
        "driftgate: warning: Broken.finish()",
    ]
    assert all(type(error).__name__ in line for line in err)


@pytest.mark.parametrize(
    ("metrics", "error"), [({"m": None}, TypeError), ({"m": 10**400}, ValueError), (None, TypeError)]
)
def test_strict_mode_reaches_the_author_after_all_siblings_were_served(make_collector, records, metrics, error):
    """DRIFTGATE_STRICT=1 exists to be seen: the collector's error is raised, and no sibling pays for it."""
    sibling = Recorder()
    manager = TrackingManager([make_collector(DRIFTGATE_STRICT="1"), sibling])
    with pytest.raises(error, match="got"):
        manager.log(metrics, step=0)
    assert len(sibling.calls) == (metrics is not None)
    assert list(records.iterdir()) == []


def test_an_interrupt_is_not_swallowed():
    """Ctrl-C in a backend ends training as it always did."""
    with pytest.raises(KeyboardInterrupt):
        TrackingManager([Broken(KeyboardInterrupt())]).log({"m": 1.0}, step=0)


def test_no_backends_is_no_error():
    """A manager without backends does nothing."""
    manager = TrackingManager()
    manager.log({"m": 1.0}, step=0)
    manager.finish()
