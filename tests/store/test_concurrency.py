"""Several threads and several processes at once: nothing lost, nothing doubled."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from store.contract import RunFilter
from store.opening import open_store

ALL = RunFilter(limit=1000)

WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, sys.argv[1])
import builders
from store.opening import open_store
def write(number):
    with open_store(sys.argv[2]) as store:
        store.write_run(builders.run(number))
with ThreadPoolExecutor(8) as pool:
    list(pool.map(write, range(int(sys.argv[3]), int(sys.argv[3]) + 8)))
"""


def test_32_writers_in_4_processes_lose_no_run(url, build):
    """All on one series of a database that none of them has opened before."""
    command = [sys.executable, "-c", WRITER, str(Path(__file__).parent), url]
    processes = [subprocess.Popen([*command, str(first)]) for first in (0, 8, 16, 24)]
    assert [process.wait(100) for process in processes] == [0] * 4
    with open_store(url) as store:
        assert sorted(build.recent(store, limit=100)[0]) == [float(number) for number in range(32)]


def test_one_run_written_five_times_at_once_is_stored_once(store, build):
    """One writer stores it, the others get the same run as a repeat."""
    with ThreadPoolExecutor(5) as pool:
        written = list(pool.map(lambda _: store.write_run(build.run(1)), range(5)))
    assert sorted(run.repeat for run in written) == [False, True, True, True, True]
    assert len({run.run_id for run in written}) == 1
    assert len(store.list_runs("default", ALL)) == 1


def test_one_key_for_two_series_at_once_is_a_conflict(store, build):
    """The series' lock does not cover it, so the database's own rule must."""
    identities = [replace(build.IDENTITY, suite=f"s{number}") for number in range(4)]

    def write(identity):
        try:
            return store.write_run(build.run(1, identity=identity, idempotency_key="k")).run_id
        except Exception as error:  # noqa: BLE001 - the kind of error is what is tested
            return type(error).__name__

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(write, identities))
    assert outcomes.count("StoreConflict") == 3
    assert len(store.list_runs("default", ALL)) == 1


def test_attempts_arriving_at_once_leave_one_counting(store, build):
    """Superseding is decided under the series' lock."""
    runs = [
        build.run(7, build.values({0: float(number)}), facts={"ci_run_attempt": number}) for number in (3, 1, 5, 2, 4)
    ]
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(store.write_run, runs))
    assert build.recent(store) == [[5.0]]


def test_no_run_slips_past_a_rule_in_the_moment_it_is_set(store, build):
    """Whether a writer or the mark comes first, no run of the CI run is trusted afterwards."""
    runs = [build.run(7, identity=replace(build.IDENTITY, suite=f"s{number}")) for number in range(12)]
    with ThreadPoolExecutor(5) as pool:
        writing = [pool.submit(store.write_run, run) for run in runs[:6]]
        marking = pool.submit(store.mark_untrusted, **build.BY, ci_run_id=7)
        writing += [pool.submit(store.write_run, run) for run in runs[6:]]
        assert all(one.result() for one in writing)
        assert marking.result() >= 0
    listed = store.list_runs("default", ALL)
    assert (len(listed), {run.trusted for run in listed}) == (12, {False})
    assert store.mark_trusted(**build.BY, ci_run_id=7) == 12


def test_writers_with_the_same_new_steps_do_not_deadlock(store, build):
    """Step sets are shared by all series; each writer names several new ones, in another order."""

    def new(number: int):
        series = [build.values({step: 1.0, step + 100: 1.0}, build.key(f"m{step}")) for step in range(8)]
        if number % 2:
            series.reverse()
        return build.run(1, *series, identity=replace(build.IDENTITY, suite=f"s{number}"))

    with ThreadPoolExecutor(6) as pool:
        written = list(pool.map(lambda number: store.write_run(new(number)), range(6)))
    assert len(written) == 6
