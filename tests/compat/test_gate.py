"""`evaluate_gate`: one result per coordinate, by the reference's rule."""

from pathlib import Path

import compat_builders as build
import pytest

from driftgate.compat import CIRegistry, GateStatus, HWBackend, RunIdentity, SQLiteMetricHistoryStore, evaluate_gate

BAND = 'constraint={"rel_up": 0.2, "rel_down": 0.2}'
LAST = f'register_ci_gate(metric_key="m", steps="last", {BAND})\n'
ALL = f'register_ci_gate(metric_key="m", steps="all", {BAND})\n'
SUITE = "stage-c-8-gpu-h100"


def _seed(store, name, *values, **changes):
    """One trusted run for each value, under the identity of the test file."""
    for night, value in enumerate(values, 1):
        samples = [build.sample(value, **changes)]
        build.write(store, value, night, identity=RunIdentity(name, "cuda", SUITE), values=samples)


def _statuses(result):
    return [(row.step, row.historical_status) for row in result.metrics]


def test_a_cold_start_is_trusted(store, test_file, record):
    """No trusted value: inactive, no error, and the run may seed the baseline."""
    name = test_file(LAST)
    result = evaluate_gate(name, record(m=[[0, 0.9]]), store)
    (row,) = result.metrics
    assert (result.test_path, result.backend, result.suite) == (name, "cuda", SUITE)
    assert (row.metric_key, row.steps_key, row.constraint_key) == ("m", build.LAST, build.BAND)
    assert (row.step, row.at_step, row.current) == (-1, 0, 0.9)
    assert (row.historical_status, row.baseline_n, row.baseline_mean) == (GateStatus.INACTIVE, 0, None)
    assert "cold start" in row.reason
    assert row.trusted
    assert result.trusted


@pytest.mark.parametrize(
    ("value", "status"),
    [(0.79, GateStatus.PASS), (0.96, GateStatus.PASS), (0.55, GateStatus.FAIL), (1.0, GateStatus.FAIL)],
)
def test_a_value_against_the_mean_of_its_baseline(store, test_file, record, value, status):
    """One value outside fails the run; the reason states the comparison."""
    name = test_file(LAST)
    _seed(store, name, 0.8, 0.82, 0.78)
    result = evaluate_gate(name, record(m=[[0, value]]), store)
    (row,) = result.metrics
    assert (row.historical_status, row.baseline_n) == (status, 3)
    assert row.baseline_mean == pytest.approx(0.8)
    assert result.trusted is row.trusted is (status is GateStatus.PASS)
    assert ("of 3 runs (allowed 0.64 to 0.96)" in row.reason) is (status is GateStatus.FAIL)


def test_each_step_has_its_own_baseline(store, test_file, record):
    """And one bad step makes the run untrusted, however many are good."""
    name = test_file(ALL)
    for step, value in enumerate([0.1, 0.9, 1.0]):
        _seed(store, name, value, value, steps='"all"', step=step)
    series = [[0, 0.1], [1, 0.9], [2, 1.5], [3, 7.0]]
    result = evaluate_gate(name, record(m=series), store)
    assert _statuses(result) == [
        (0, GateStatus.PASS),
        (1, GateStatus.PASS),
        (2, GateStatus.FAIL),
        (3, GateStatus.INACTIVE),
    ]
    assert not result.trusted


def test_results_come_in_the_order_of_the_declarations(memory, test_file, record):
    """A list of steps keeps its order too."""
    declarations = LAST + f'register_ci_gate(metric_key="a", steps=[3, 0], {BAND})\n'
    result = evaluate_gate(test_file(declarations), record(a=[[0, 1.0], [3, 2.0]], m=[[9, 5.0]]), memory)
    assert [(row.metric_key, row.step, row.at_step, row.current) for row in result.metrics] == [
        ("m", -1, 9, 5.0),
        ("a", 3, 3, 2.0),
        ("a", 0, 0, 1.0),
    ]


def test_steps_and_constraint_are_part_of_the_coordinate(store, test_file, record):
    """Another literal has another history."""
    name = test_file(
        LAST + 'register_ci_gate(metric_key="m", steps="last", constraint={"rel_up": 9, "rel_down": 9})\n' + ALL
    )
    _seed(store, name, 1.0)
    result = evaluate_gate(name, record(m=[[0, 1.1]]), store)
    assert [row.baseline_n for row in result.metrics] == [1, 0, 0]


@pytest.mark.parametrize(
    ("declaration", "metrics", "part"),
    [
        (LAST, {"other": [[0, 1.0]]}, "missing"),
        (LAST, {"m": []}, "no numeric point"),
        (LAST, {"m": [[0, 1.0], [1, "NaN"]]}, "NaN"),
        (ALL, {"m": [[0, 1.0], [1, "Infinity"]]}, "Infinity"),
        (ALL, {"m": [[0, 1.0], [0, 2.0]]}, "duplicate step 0"),
        (f'register_ci_gate(metric_key="m", steps=[0, 3], {BAND})\n', {"m": [[0, 1.0]]}, "step 3: missing"),
    ],
)
def test_a_fault_is_one_error_for_its_declaration(memory, test_file, record, declaration, metrics, part):
    """No step, no value, no baseline; the other declarations are judged all the same."""
    other = f'register_ci_gate(metric_key="good", steps="last", {BAND})\n'
    result = evaluate_gate(test_file(declaration + other), record(good=[[0, 1.0]], **metrics), memory)
    fault, good = result.metrics
    assert (fault.step, fault.at_step, fault.current) == (None, None, None)
    assert (fault.historical_status, fault.baseline_n, fault.baseline_mean) == (GateStatus.ERROR, 0, None)
    assert part in fault.reason
    assert good.historical_status is GateStatus.INACTIVE
    assert not result.trusted


def test_a_run_that_ended_early_is_judged_as_it_is(memory, test_file, record):
    """As there: neither fewer points than ever nor steps that meet no history are an error."""
    name = test_file(ALL)
    identity = RunIdentity(name, "cuda", SUITE)
    for night in range(1, 6):
        samples = [build.sample(1.0, steps='"all"', step=step) for step in range(10)]
        build.write(memory, 1.0, night, identity=identity, values=samples)
    assert evaluate_gate(name, record(m=[[0, 1.0]]), memory).trusted
    assert evaluate_gate(name, record(m=[[70, 1.0], [71, 1.0]]), memory).trusted


def test_no_drift_is_looked_for(memory, test_file, record):
    """As there: a level that crept to the far side of where it began passes against its recent mean."""
    name = test_file(LAST)
    _seed(memory, name, *(1.0 + night / 10 for night in range(28)))
    result = evaluate_gate(name, record(m=[[0, 3.3]]), memory, history_limit=5)
    assert _statuses(result) == [(-1, GateStatus.PASS)]


def test_the_limit_counts_the_newest_values(store, test_file, record):
    """Twenty unless said otherwise."""
    name = test_file(LAST)
    _seed(store, name, *map(float, range(1, 26)))
    record_path = record(m=[[0, 1.0]])
    (usual,) = evaluate_gate(name, record_path, store).metrics
    (short,) = evaluate_gate(name, record_path, store, history_limit=3).metrics
    assert (usual.baseline_n, usual.baseline_mean) == (20, 15.5)
    assert (short.baseline_n, short.baseline_mean) == (3, 24.0)


def test_a_store_of_driftgate_is_read_once(memory, test_file, record, monkeypatch):
    """However many coordinates there are."""
    calls = []
    read = memory.read_history
    monkeypatch.setattr(memory, "read_history", lambda *args: calls.append(args) or read(*args))
    series = [[step, 1.0] for step in range(50)]
    result = evaluate_gate(test_file(LAST + ALL), record(m=series), memory)
    assert (len(result.metrics), len(calls)) == (51, 1)


def test_a_store_of_ones_own_is_asked_coordinate_by_coordinate(test_file, record):
    """A subclass of the contract is enough; nothing else of it is used."""
    name = test_file(LAST + ALL)
    own = build.OwnStore()
    _seed(own, name, 1.0, 2.0)
    _seed(own, name, 4.0, steps='"all"', step=1)
    result = evaluate_gate(name, record(m=[[0, 1.5], [1, 1.5]]), own, history_limit=7)
    assert [(row.step, row.baseline_n, row.baseline_mean) for row in result.metrics] == [
        (-1, 2, 1.5),
        (0, 0, None),
        (1, 1, 4.0),
    ]
    assert own.asked == [
        (name, "cuda", SUITE, "m", steps, build.BAND, step, 7)
        for steps, step in (('"last"', -1), ('"all"', 0), ('"all"', 1))
    ]


def test_any_object_that_can_be_asked_will_do(test_file, record):
    """Duck typing, as there."""

    class Asked:
        def recent_trusted_values(self, *address):
            return [1.0] * address[-1]

    (row,) = evaluate_gate(test_file(LAST), record(m=[[0, 1.1]]), Asked()).metrics
    assert (row.historical_status, row.baseline_n) == (GateStatus.PASS, 20)


def test_the_registration_that_ran_is_the_identity(memory, test_file, record):
    """It need not be the file's: then a file with several is fine."""
    registration = 'register_cuda_ci(1, "a")\nregister_rocm_ci(1, "b")\n'
    name = test_file(LAST, registration=registration)
    record_path = record(m=[[0, 1.0]])
    ran = CIRegistry(HWBackend.ROCM, "tests/e2e/test_a.py", 1.0, "b")
    result = evaluate_gate(name, record_path, memory, registry=ran)
    assert (result.test_path, result.backend, result.suite) == ("tests/e2e/test_a.py", "rocm", "b")
    with pytest.raises(ValueError, match="2 registrations"):
        evaluate_gate(name, record_path, memory)


def test_a_file_without_a_registration_has_no_identity(memory, test_file, record):
    """Where something is declared."""
    with pytest.raises(ValueError, match="no register_"):
        evaluate_gate(test_file(LAST, registration=""), record(m=[[0, 1.0]]), memory)


@pytest.mark.parametrize("registration", ["", 'register_cpu_ci(1, "a")\nregister_cuda_ci(1, "b")\n'])
def test_nothing_declared_is_trusted(memory, test_file, registration):
    """Without a look at registrations, record or store."""
    name = test_file("", registration=registration)
    result = evaluate_gate(name, "missing", memory)
    assert (result.test_path, result.backend, result.suite, result.metrics) == (name, "", "", [])
    assert result.trusted
    ran = CIRegistry(HWBackend.CPU, "tests/test_a.py", 1.0, "a")
    result = evaluate_gate(name, "missing", memory, registry=ran)
    assert (result.test_path, result.backend, result.suite) == ("tests/test_a.py", "cpu", "a")


def test_what_cannot_be_read_is_raised(memory, test_file, record, tmp_path):
    """As there: the caller decides what a broken record or declaration means."""
    with pytest.raises(FileNotFoundError):
        evaluate_gate(test_file(LAST), str(tmp_path / "missing"), memory)
    with pytest.raises(ValueError, match="bogus"):
        evaluate_gate(test_file("register_ci_gate(bogus=1)\n"), record(), memory)


def test_a_defect_that_the_collector_left_is_an_error(memory, test_file, tmp_path):
    """It is not judged by the points that are left."""
    path = tmp_path / "m.jsonl"
    path.write_text('{"metric": "m", "series": [[0, 1.0]]}\n{"metric": "m", "defect": "expected a number, got str"}\n')
    (row,) = evaluate_gate(test_file(LAST), str(path), memory).metrics
    assert row.historical_status is GateStatus.ERROR
    assert "got str" in row.reason


def test_paths_are_names(memory, test_file, record):
    """A path of pathlib means the same as its text."""
    name, record_path = test_file(LAST), record(m=[[0, 1.0]])
    assert evaluate_gate(Path(name), Path(record_path), memory) == evaluate_gate(name, record_path, memory)


def test_the_gate_writes_nothing(test_file, record, tmp_path):
    """It can be asked as often as one likes."""
    with SQLiteMetricHistoryStore(tmp_path / "h.db") as store:
        for _ in range(3):
            (row,) = evaluate_gate(test_file(LAST), record(m=[[0, 1.0]]), store).metrics
    assert row.baseline_n == 0
