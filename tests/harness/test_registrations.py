"""Registrations: what is read and every rejection with its words."""

from dataclasses import replace
from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.harness.registrations import Registration, parse_registrations

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
CUDA = 'labels=["megatron"], hardware=["hopper"]'


def register(call, config=CONFIG):
    return parse_registrations("tests/e2e/test_a.py", call, config)


@pytest.mark.parametrize(
    ("call", "registration"),
    [
        ('register_cpu_ci(60, "stage-a-cpu")', Registration("cpu", "stage-a-cpu", 60.0)),
        ('register_cpu_ci(est_time=0.5, suite="stage-a-cpu", labels=["eval"])', Registration("cpu", "stage-a-cpu", 0.5, ("eval",))),
        ('register_cpu_ci(1, "stage-a-cpu", nightly=True, disabled=None)', Registration("cpu", "stage-a-cpu", 1.0, nightly=True)),
        ('register_cpu_ci(1, "stage-a-cpu", disabled="flaky")', Registration("cpu", "stage-a-cpu", 1.0, disabled="flaky")),
        ('register_rocm_ci(9, "stage-c-4-gpu-mi350", labels=["amd"])', Registration("rocm", "stage-c-4-gpu-mi350", 9.0, ("amd",))),
        (
            'register_cuda_ci(est_time=300, suite="stage-c-8-gpu-h100", labels=["megatron"], hardware=["blackwell", "hopper"], num_gpus=8)',
            Registration("cuda", "stage-c-8-gpu-h100", 300.0, ("megatron",), hardware=("blackwell", "hopper"), num_gpus=8),
        ),
        (
            'register_cuda_ci(1, "stage-c-8-gpu-b200", labels=["long"], hardware=["blackwell"])',
            Registration("cuda", "stage-c-8-gpu-b200", 1.0, ("long",), hardware=("blackwell",)),
        ),
    ],
)  # fmt: skip
def test_registrations_are_read(call, registration):
    """Each marker with its defaults, positional or by keyword; the line is kept."""
    found, problems = register("\n" + call)
    assert not problems
    assert found[0].line == 2
    assert found == (
        Registration(**{field: getattr(registration, field) for field in registration.__slots__} | {"line": 2}),
    )


MISTAKES = [
    # how arguments are given
    ("register_cpu_ci(*a)", "", "* and ** hide"),
    ("register_cpu_ci(**a)", "", "* and ** hide"),
    ('register_cpu_ci(1, "stage-a-cpu", ["eval"])', "", 'takes only est_time, suite by position, found ["eval"]'),
    ('register_cpu_ci(1, "stage-a-cpu", est_time=2)', "est_time", "given twice"),
    ('register_cpu_ci(1, "stage-a-cpu", labels=["eval"], labels=["eval"])', "labels", "given twice"),
    ('register_cpu_ci(1, "stage-a-cpu", label=["eval"])', "label", "unknown argument (did you mean 'labels'?); valid: est_time"),
    ('register_cpu_ci(1, f"stage-a-cpu")', "suite", "is not a literal"),
    ('register_cpu_ci(5 * 60, "stage-a-cpu")', "est_time", "`5 * 60` is not a literal"),
    ("register_cpu_ci(1, SUITE)", "suite", "`SUITE` is not a literal"),
    # est_time
    ('register_cpu_ci(suite="stage-a-cpu")', "est_time", "missing; give the expected seconds"),
    ('register_cpu_ci("60", "stage-a-cpu")', "est_time", "found '60'; write the expected seconds"),
    ('register_cpu_ci(True, "stage-a-cpu")', "est_time", "found True"),
    ('register_cpu_ci(2j, "stage-a-cpu")', "est_time", "found 2j"),
    ('register_cpu_ci(0, "stage-a-cpu")', "est_time", "found 0"),
    ('register_cpu_ci(-1, "stage-a-cpu")', "est_time", "found -1"),
    ('register_cpu_ci(-0.0, "stage-a-cpu")', "est_time", "found -0.0"),
    ('register_cpu_ci(nan, "stage-a-cpu")', "est_time", "`nan` is not a literal"),
    ('register_cpu_ci(float("nan"), "stage-a-cpu")', "est_time", "is not a literal"),
    ('register_cpu_ci(1e999 - 1e999, "stage-a-cpu")', "est_time", "`1e999 - 1e999` is not a literal"),
    ('register_cpu_ci(None, "stage-a-cpu")', "est_time", "found None"),
    ('register_cpu_ci(1e999, "stage-a-cpu")', "est_time", "found inf"),
    (f'register_cpu_ci({10**400}, "stage-a-cpu")', "est_time", "found 1000"),
    # suite
    ("register_cpu_ci(1)", "suite", "missing; name the suite"),
    ("register_cpu_ci(1, 2)", "suite", "found 2; write a suite's name: stage-a-cpu"),
    ('register_cpu_ci(1, ["stage-a-cpu"])', "suite", "found ['stage-a-cpu']"),
    ('register_cpu_ci(1, "stage-a-cpo")', "suite", "unknown suite 'stage-a-cpo' (did you mean 'stage-a-cpu'?); valid: stage-a-cpu"),
    (f'register_cuda_ci(1, "stage-a-cpu", {CUDA})', "suite", "'stage-a-cpu' is a suite for cpu, not cuda; valid: stage-b-2-gpu-h200"),
    # labels
    ('register_cpu_ci(1, "stage-a-cpu", labels="eval")', "labels", "found 'eval'; write a list of strings"),
    ('register_cpu_ci(1, "stage-a-cpu", labels=("eval",))', "labels", "found ('eval',); write a list of strings"),
    ('register_cpu_ci(1, "stage-a-cpu", labels=["eval", 1])', "labels", "write a list of strings"),
    ('register_cpu_ci(1, "stage-a-cpu", labels=["eval", "eval"])', "labels", "'eval' listed twice"),
    ('register_cpu_ci(1, "stage-a-cpu", labels=["evl"])', "labels", "unknown label 'evl' (did you mean 'eval'?); known labels: megatron, "),
    ('register_cpu_ci(1, "stage-a-cpu", labels=["evl"])', "labels", 'to add one write evl = "what it covers" under [labels]'),
    ('register_cuda_ci(1, "stage-c-8-gpu-h100", hardware=["hopper"])', "labels", "a GPU test needs a label"),
    ('register_cuda_ci(1, "stage-c-8-gpu-h100", labels=[], hardware=["hopper"])', "labels", "a GPU test needs a label"),
    ('register_rocm_ci(1, "stage-c-4-gpu-mi350")', "labels", "a GPU test needs a label"),
    # nightly, disabled
    ('register_cpu_ci(1, "stage-a-cpu", nightly=1)', "nightly", "found 1; write True or False"),
    ('register_cpu_ci(1, "stage-a-cpu", nightly=None)', "nightly", "found None; write True or False"),
    ('register_cpu_ci(1, "stage-a-cpu", disabled=True)', "disabled", "found True; write None, or why"),
    ('register_cpu_ci(1, "stage-a-cpu", disabled="")', "disabled", "found ''; write None, or why"),
    # hardware
    ('register_cuda_ci(1, "stage-c-8-gpu-h100", labels=["long"])', "hardware", "missing; name the generations this test supports: hopper, blackwell"),
    ('register_cuda_ci(1, "stage-c-8-gpu-h100", labels=["long"], hardware=[])', "hardware", "found an empty list"),
    ('register_cuda_ci(1, "stage-c-8-gpu-h100", labels=["long"], hardware="hopper")', "hardware", "write a list of strings"),
    ('register_cuda_ci(1, "stage-c-8-gpu-h100", labels=["long"], hardware=["hopper", "hoper"])', "hardware", "unknown generation 'hoper' (did you mean 'hopper'?)"),
    ('register_cuda_ci(1, "stage-c-8-gpu-h100", labels=["long"], hardware=["hopper", "hopper"])', "hardware", "'hopper' listed twice"),
    ('register_cpu_ci(1, "stage-a-cpu", hardware=["hopper"])', "hardware", "is for CUDA alone; leave it out for cpu"),
    ('register_rocm_ci(1, "stage-c-4-gpu-mi350", labels=["amd"], hardware=["hopper"])', "hardware", "is for CUDA alone; leave it out for rocm"),
    # home suite
    ('register_cuda_ci(1, "stage-c-8-gpu-b200", labels=["long"], hardware=["blackwell", "hopper"])', "suite", "this test's home must be on hopper"),
    ('register_cuda_ci(1, "stage-c-8-gpu-h100", labels=["long"], hardware=["blackwell"])', "suite", "must be on blackwell, the most preferred it supports; valid: stage-c-8-gpu-b200"),
    # num_gpus
    (f'register_cuda_ci(1, "stage-c-8-gpu-h100", {CUDA}, num_gpus=0)', "num_gpus", "found 0; write an int from 1 to 8"),
    (f'register_cuda_ci(1, "stage-c-8-gpu-h100", {CUDA}, num_gpus=9)', "num_gpus", "found 9; write an int from 1 to 8"),
    (f'register_cuda_ci(1, "stage-c-8-gpu-h100", {CUDA}, num_gpus=True)', "num_gpus", "found True"),
    (f'register_cuda_ci(1, "stage-c-8-gpu-h100", {CUDA}, num_gpus=2.0)', "num_gpus", "found 2.0"),
    (f'register_cuda_ci(1, "stage-b-2-gpu-h200", {CUDA}, num_gpus=4)', "num_gpus", "4 is above the 2 GPUs of stage-b-2-gpu-h200"),
    ('register_cpu_ci(1, "stage-a-cpu", num_gpus=1)', "num_gpus", "is for CUDA alone"),
    ('register_rocm_ci(1, "stage-c-4-gpu-mi350", labels=["amd"], num_gpus=1)', "num_gpus", "is for CUDA alone"),
    # where it is called
    ('def f(): register_cpu_ci(1, "stage-a-cpu")', "", "called where it is not seen"),
    ('class A: register_cpu_ci(1, "stage-a-cpu")', "", "called where it is not seen"),
    ("import driftgate as d; r = d.register_cuda_ci", "", "used other than by a call"),
    ("r = register_rocm_ci", "", "used other than by a call; write register_rocm_ci(...) as a statement"),
    ('if 1: register_cpu_ci(1, "stage-a-cpu")', "", "called where it is not seen"),
    ('driftgate.register_cpu_ci(1, "stage-a-cpu")', "", "called where it is not seen"),
    ("from driftgate import register_cuda_ci as cuda", "", "imported as 'cuda', where its calls are not seen"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "field", "words"), MISTAKES, ids=[call for call, _, _ in MISTAKES])
def test_each_mistake_is_one_problem_that_names_the_parameter(call, field, words):
    """File and line, marker, parameter, what was found and what to write instead."""
    found, (problem,) = register(call)
    assert not found
    assert (problem.file, problem.line, problem.field) == ("tests/e2e/test_a.py", 1, field)
    assert problem.call in call
    assert words in problem.text


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("a.b", 'to add one write "a.b" = "what it covers" under [labels]'),
        ("x\n::error::y", "unknown label 'x\\n::error::y'; known labels"),
        ("x\n::error::y", "; a label has letters, digits and"),
    ],
)
def test_how_to_add_a_label_is_something_to_paste(label, words):
    """A key that TOML takes; a label that nothing takes is never repeated as it is."""
    _, (problem,) = register(f'register_cpu_ci(1, "stage-a-cpu", labels=[{label!r}])')
    assert words in problem.text
    assert problem.text.isprintable()


def test_a_hostile_file_costs_no_more_than_a_long_one():
    """Labels, what is listed of a long registry, and mistakes are bounded."""
    many = replace(CONFIG, labels={f"label-{number}": "one of many" for number in range(60)})
    found, problems = register("register_cpu_ci(1, 'stage-a-cpu', labels=['zzz'])\n" * 2000, many)
    assert (found, len(problems)) == ((), 202)
    assert problems[-1].text == "and more than 200 mistakes"
    assert problems[0].text.count("label-") == 50
    assert "label-49 and 10 more; to add one" in problems[0].text
    _, (problem,) = register(f"register_cpu_ci(1, 'stage-a-cpu', labels={[str(n) for n in range(50_000)]})")
    assert problem.text == "found 50000 strings; at most 100"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"register_cuda_ci({', '.join(['x'] * 5000)})", 1),
        (f"register_cuda_ci({', '.join(f'labels{n}=1' for n in range(5000))})", 1),
        ("register_cuda_ci()\n" * 5000, 201),
        ("register_cuda_ci(f, g, *h)\n" * 5000, 201),
        ("if 1:\n" + "    register_cuda_ci()\n" * 5000, 201),
        ("def f():\n    register_cuda_ci()\n" * 5000, 201),
    ],
    ids=["positional", "keywords", "calls", "unreadable calls", "misuses in one", "misuses"],
)
def test_a_hostile_file_has_few_mistakes(text, count):
    """The last stands for all that follow."""
    _, problems = register(text)
    assert len(problems) == count
    expected = "has 5000 arguments; at most 100" if count == 1 else "and more than 200 mistakes"
    assert expected in {problem.text for problem in problems}


def test_a_likely_label_is_looked_up_for_the_first_alone():
    """Likeness is slow; every label is still told."""
    _, problems = register(f"register_cpu_ci(1, 'stage-a-cpu', labels={[f'megatro{n}' for n in range(20)]})")
    assert [("did you mean 'megatron'?" in problem.text) for problem in problems] == [True] * 5 + [False] * 15


def test_all_mistakes_of_a_file_come_at_once():
    """Thirty bad calls give thirty problems in file order, and the good call among them is read."""
    calls = [call for call, _, _ in MISTAKES if call.startswith("register_")][:30]
    found, problems = register("\n".join([*calls, 'register_rocm_ci(9, "stage-c-4-gpu-mi350", labels=["amd"])']))
    assert [problem.line for problem in problems if "again" not in problem.text] == list(range(1, 31))
    assert [registration.backend for registration in found] == ["rocm"]


def test_a_file_may_register_once_per_backend_and_suite():
    """CUDA on two suites and ROCm is fine; the same place twice is not."""
    text = f"""
register_cuda_ci(1, "stage-c-8-gpu-h100", {CUDA})
register_cuda_ci(1, "stage-b-2-gpu-h200", {CUDA})
register_rocm_ci(1, "stage-c-4-gpu-mi350", labels=["amd"])
register_cuda_ci(2, "stage-c-8-gpu-h100", {CUDA}, nightly=True)
"""
    found, (problem,) = register(text)
    assert [registration.line for registration in found] == [2, 3, 4]
    assert (problem.line, problem.text) == (5, "registers stage-c-8-gpu-h100 again, as line 2; keep one")


def test_without_configured_suites_the_message_says_how_to_add_one():
    """A project that starts from empty tables is told what to write."""
    empty = load_config(file=None, start=Path("/"), env={}, options={"preset": "none"})
    _, (problem,) = register('register_cpu_ci(1, "mine")', empty)
    assert problem.text == "unknown suite 'mine'; valid: none; add a table [suites.NAME] to driftgate.toml"
