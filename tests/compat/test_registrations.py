"""`ut_parse_one_file`: registrations as the reference hands them out."""

import pytest

from driftgate.compat import CIRegistry, HWBackend, ut_parse_one_file

ACCEPTED = {
    "by position": ('register_cpu_ci(1, "stage-a-cpu")', (HWBackend.CPU, 1.0, "stage-a-cpu", [], False, None)),
    "no labels, no hardware": (
        'register_cuda_ci(est_time=600, suite="any")',
        (HWBackend.CUDA, 600.0, "any", [], False, None),
    ),
    "every field": (
        'register_rocm_ci(est_time=5, suite="s", labels=["x", "y"], nightly=True, disabled="flaky")',
        (HWBackend.ROCM, 5.0, "s", ["x", "y"], True, "flaky"),
    ),
    "hardware is taken too": (
        'register_cuda_ci(5, "s", labels=["x"], hardware=["hopper"], num_gpus=4)',
        (HWBackend.CUDA, 5.0, "s", ["x"], False, None),
    ),
    "None is nothing": (
        'register_cuda_ci(5, "s", labels=None, disabled=None, hardware=None, num_gpus=None)',
        (HWBackend.CUDA, 5.0, "s", [], False, None),
    ),
}
REJECTED = {
    "no time": 'register_cpu_ci(suite="s")',
    "no suite": "register_cpu_ci(est_time=1)",
    "time is text": 'register_cpu_ci("1", "s")',
    "time is a bool": 'register_cpu_ci(True, "s")',
    "time is not finite": 'register_cpu_ci(1e999, "s")',
    "suite is no text": "register_cpu_ci(1, 2)",
    "suite is empty": 'register_cpu_ci(1, "")',
    "labels is text": 'register_cpu_ci(1, "s", labels="x")',
    "a label is no text": 'register_cpu_ci(1, "s", labels=[1])',
    "nightly is no bool": 'register_cpu_ci(1, "s", nightly=1)',
    "disabled is a bool": 'register_cpu_ci(1, "s", disabled=True)',
    "unknown argument": 'register_cpu_ci(1, "s", gpus=8)',
    "labels by position": 'register_cpu_ci(1, "s", ["x"])',
    "not a literal": 'register_cpu_ci(1, "s" + X)',
    "spread": "register_cpu_ci(*X)",
    "twice": 'register_cpu_ci(1, "s", est_time=1)',
    "num_gpus is no int": 'register_cuda_ci(1, "s", num_gpus="8")',
    "where it is not seen": 'if True:\n    register_cpu_ci(1, "s")',
}


@pytest.mark.parametrize(("call", "expected"), ACCEPTED.values(), ids=ACCEPTED)
def test_a_registration(call, expected, test_file):
    """Suites and labels of any name: no configuration is asked."""
    name = test_file("", registration=f"{call}\n")
    backend, *rest = expected
    assert ut_parse_one_file(name) == [CIRegistry(backend, name, *rest)]


@pytest.mark.parametrize("call", REJECTED.values(), ids=REJECTED)
def test_a_bad_registration_is_a_value_error_with_its_place(call, test_file):
    """It names file and line."""
    name = test_file("", registration=f"{call}\n")
    with pytest.raises(ValueError, match=r"test_a\.py:[12]: register_"):
        ut_parse_one_file(name)


def test_several_registrations_in_file_order(test_file):
    """A file may run on several backends."""
    found = ut_parse_one_file(test_file('register_rocm_ci(1, "b")\n', registration='register_cuda_ci(1, "a")\n'))
    assert [(one.backend, one.suite) for one in found] == [(HWBackend.CUDA, "a"), (HWBackend.ROCM, "b")]


def test_a_missing_file_is_an_os_error():
    """As there."""
    with pytest.raises(FileNotFoundError):
        ut_parse_one_file("missing.py")
