"""The names of the reference design, what they take by position, and what importing them costs."""

import inspect
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from driftgate import compat

CHECKOUT = Path(__file__).parents[2]
FUNCTIONS = {
    "evaluate_constraint": "constraint, cur, ref",
    "evaluate_gate": "test_filename, merged_record_path, store, *, registry=None, history_limit=20",
    "parse_ci_gate_specs": "filename",
    "parse_merged_record": "record_path",
    "select": "series, steps",
    "ut_parse_one_file": "filename",
    "CiHistoryBackend": "",
    "CiHistoryBackend.init": "self, args, *, primary=True, **kwargs",
    "CiHistoryBackend.log": "self, metrics, step=None, **kwargs",
    "CiHistoryBackend.finish": "self",
    "SQLiteMetricHistoryStore": "database=':memory:', *, project='default'",
    "NeonMetricHistoryStore": "dsn=None, *, project='default'",
}
STORE_METHODS = {
    "write_run": "self, identity, provenance, created_at, trusted, values",
    "recent_trusted_values": "self, test_path, backend, suite, metric_key, steps_key, constraint_key, step, limit",
    "mark_untrusted": "self, *, run_id=None, github_run_id=None, commit_sha=None",
}
STORES = ["MetricHistoryStore", "SQLiteMetricHistoryStore", "NeonMetricHistoryStore"]
DATACLASSES = {
    "CiGateSpec": "filename metric_key steps constraint steps_key constraint_key enforce=False allowlist_reason=None",
    "CIRegistry": "backend filename est_time suite labels=[] nightly=False disabled=None implicit=False",
    "MetricSample": "metric_key steps_key constraint_key step value",
    "RunIdentity": "test_path backend suite",
    "RunProvenance": "commit_sha pr_number github_run_id github_run_attempt event_name ref",
    "MetricGateResult": (
        "metric_key steps_key constraint_key step at_step current historical_status baseline_n baseline_mean reason"
    ),
    "GateResult": "test_path backend suite metrics=[]",
}


def _find(path):
    found = compat
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _parameters(function):
    """The signature without annotations."""
    signature = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))[1:-1]


def _field(field):
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return field.name if default is MISSING else f"{field.name}={default}"


@pytest.mark.parametrize(("name", "parameters"), FUNCTIONS.items())
def test_a_call_takes_what_it_takes_there(name, parameters):
    """Names, order, defaults and what is keyword-only."""
    assert _parameters(_find(name)) == parameters


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(("name", "parameters"), STORE_METHODS.items())
def test_a_store_takes_what_it_takes_there(store, name, parameters):
    """The contract and both stores."""
    assert _parameters(_find(f"{store}.{name}")) == parameters


@pytest.mark.parametrize(("name", "expected"), DATACLASSES.items())
def test_a_value_has_its_fields_in_their_order(name, expected):
    """Positional construction means the same."""
    assert " ".join(map(_field, fields(_find(name)))) == expected


def test_statuses_and_backends_are_those_of_the_reference():
    """By value and by name."""
    statuses = {"PASS": "pass", "FAIL": "fail", "INACTIVE": "inactive", "ERROR": "error"}
    assert {status.name: status.value for status in compat.GateStatus} == statuses
    assert [backend.name for backend in compat.HWBackend] == ["CPU", "CUDA", "ROCM"]


def test_constants():
    """The environment is driftgate's and Neon's; the defaults stay within what is captured."""
    assert compat.RECORD_DIR_ENV == "DRIFTGATE_RECORD_DIR"
    assert compat.NEON_DATABASE_URL_ENV == "NEON_DATABASE_URL"
    assert set(compat.GATE_DEFAULTS) <= set(compat.TARGET_METRIC_KEYS)
    assert compat.GATE_DEFAULTS["rollout/raw_reward"] == {
        "steps": "all",
        "constraint": {"rel_up": 0.5, "abs_floor_up": 0.05, "rel_down": 0.2, "abs_floor_down": 0.05},
    }


def test_markers_do_nothing_when_called():
    """As there: a test file is read, not run."""
    assert compat.register_ci_gate(metric_key="rollout/raw_reward") is None
    for marker in (compat.register_cpu_ci, compat.register_cuda_ci, compat.register_rocm_ci):
        assert marker(600, "stage-a-cpu", labels=["x"]) is None


def test_everything_public_is_there():
    """`__all__` names what exists."""
    assert all(hasattr(compat, name) for name in compat.__all__)


def test_importing_needs_the_standard_library_alone():
    """A training process that imports the tracking backend does not load numpy or SQLAlchemy."""
    code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); import driftgate.compat"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_reading_declarations_needs_the_standard_library_alone(tmp_path):
    """So does a lint job on a bare runner."""
    (tmp_path / "t.py").write_text('register_cpu_ci(1, "s")\nregister_ci_gate(metric_key="train/ppo_kl")\n')
    code = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); import driftgate.compat as c\n"
        f"print(len(c.parse_ci_gate_specs({str(tmp_path / 't.py')!r})), len(c.ut_parse_one_file({str(tmp_path / 't.py')!r})))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1 1\n", "")
