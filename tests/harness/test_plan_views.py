"""What people, machines and GitHub get to see of a plan."""

import json
import re
from pathlib import Path

import pytest

from driftgate.config.model import BACKENDS
from driftgate.harness.github_outputs import MOST_MATRIX_JOBS, append_outputs, github_outputs
from driftgate.harness.plan_json import plan_json
from driftgate.harness.sharding import Shard
from gate.errors import ConfigError, SourceError

H100, B200, CPU = "stage-c-8-gpu-h100", "stage-c-8-gpu-b200", "stage-a-cpu"
NIGHTLY_PLAN = """\
plan of cadence nightly, labels run-ci-long
baseline: this run writes it
fast-fail: off, nothing waits for another suite

stage-a-cpu (cpu) on [ubuntu-latest]: 3 tests, about 7 s
  tests/ci/test_policy.py  5 s
  tests/fast/test_metric_naming.py  1 s
  tests/fast/utils/test_arguments.py  1 s

stage-b-2-gpu-h200 (cuda, hopper, 2 GPUs) on [h200, 2gpu]: 1 test, about 1 min
  tests/fast-gpu/test_fp8_kernels.py  1 min  (labels precision)

stage-c-4-gpu-h200 (cuda, hopper, 4 GPUs) on [h200, 4gpu]: 1 test, about 3 min
  tests/e2e/fsdp/test_qwen3_0.6B_fsdp.py  3 min  (labels fsdp, nightly)

stage-c-8-gpu-h100 (cuda, hopper, 8 GPUs) on [h100, 8gpu]: 3 tests, about 1 h 10 min
  shard 0/2: 1 test, about 50 min
    tests/e2e/long/test_gsm8k_long.py  50 min  (labels long)
  shard 1/2: 2 tests, about 20 min
    tests/e2e/megatron/test_moonlight_16B_A3B.py  15 min  (labels megatron)
    tests/e2e/megatron/test_qwen3_4B_ppo.py  5 min  (labels megatron, 2 gates)

stage-c-8-gpu-b200 (cuda, blackwell, 8 GPUs) on [b200, 8gpu]: 1 test, about 8 min
  tests/e2e/precision/test_nvfp4.py  8 min  (labels precision)

stage-c-4-gpu-mi350 (rocm, 4 GPUs) on [self-hosted, amd, mi350, 4gpu]: 1 test, about 20 min
  tests/e2e/megatron/test_moonlight_16B_A3B.py  20 min  (labels amd)

disabled:
  tests/e2e/ft/test_rollout_fault.py (stage-c-8-gpu-h100): waits for NCCL 2.27

10 tests, about 1 h 43 min in 6 suites
"""


def two_shards(planner, count=2):
    return planner.config(**{f"suites__{H100}__shards": count})


def written(path):
    """Name to value, read as the runner reads the file: a name, a mark, lines up to the mark."""
    found, lines = {}, iter(path.read_text().splitlines())
    for line in lines:
        name, _, mark = line.partition("<<")
        value = []
        for inside in lines:
            if inside == mark:
                break
            value.append(inside)
        found[name] = "\n".join(value)
    return found


def test_for_people(planner):
    """A whole plan, word for word."""
    assert planner.output(cadence="nightly", label=("run-ci-long",), config=two_shards(planner)) == NIGHTLY_PLAN


def test_a_run_by_hand_for_people(planner):
    """Without labels: which tests need which label, and that no GPU test is planned."""
    planner.environment = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "workflow_dispatch"}
    lines = planner.output().splitlines()
    assert lines[:3] == [
        "plan of cadence regular, event workflow_dispatch",
        "baseline: not written, cadence regular never writes",
        "fast-fail: on, a failure ends what waits for it",
    ]
    warnings = lines[lines.index("warnings:") + 1 :]
    assert warnings[0].startswith("  no label asks for a GPU test, so none is planned")
    assert f"  {H100}: no test to run" in lines
    assert any(line.startswith("  2 x ") and "run-ci-megatron" in line for line in lines)


def test_pruned_suites_for_people(planner):
    """What changed files leave out, and what waits for the CPU gate."""
    file = planner.write("diff", "M\0README.md\0M\0tests/fast/test_metric_naming.py\0")
    lines = planner.output(label=("megatron", "run-on-blackwell"), changed_files=file).splitlines()
    assert "changed files: 2, of them 1 with an effect on suites" in lines
    heading = "stage-c-8-gpu-b200 (cuda, blackwell, 8 GPUs) on [b200, 8gpu], after stage-a-cpu: 1 test, about 5 min"
    assert heading in lines
    assert "  tests/e2e/megatron/test_moonlight_16B_A3B.py not on blackwell: it supports hopper, not blackwell" in lines
    nightly = planner.output(cadence="nightly", changed_files=file).splitlines()
    assert f"  {H100}: no changed file affects it" in nightly


def test_a_fork_for_people(planner):
    """Its result proves nothing, and the plan says so at the top."""
    repositories = {"head": {"repo": {"full_name": "a/x"}}, "base": {"repo": {"full_name": "b/x"}}}
    planner.environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(
            planner.write("event.json", json.dumps({"pull_request": {**repositories, "labels": []}}))
        ),
    }
    assert planner.output().splitlines()[1].startswith("NOT EVIDENCE: ")


def test_an_empty_shard_for_people(planner):
    """Said, not left out."""
    lines = planner.output(cadence="nightly", suite=B200, shard="1/2").splitlines()
    assert ("  shard 1/2: empty, nothing to run" in lines, lines[-1]) == (True, "nothing to run")


def test_hostile_texts_for_people(planner):
    """A reason out of a test file stays on its line and sends nothing to the terminal."""
    planner.write(
        "tests/ci/test_x.py",
        f'register_cpu_ci(est_time=1, suite="{CPU}", disabled="a\\n::error::b\\x1b[31m")\n',
    )
    text = planner.output()
    assert "::error::b" in text
    assert not any(line.lstrip().startswith("::") or "\x1b" in line for line in text.splitlines())


def test_for_machines(planner):
    """The documented keys, with the types of the documentation."""
    plan = planner.plan("nightly", hw="cuda", suite=H100, shard=Shard(0, 2))
    document = plan_json(plan)
    fixed = {name: document[name] for name in ("schema", "cadence", "hw", "suite", "shard", "writes_baseline")}
    assert fixed == {
        "schema": 1,
        "cadence": "nightly",
        "hw": "cuda",
        "suite": H100,
        "shard": [0, 2],
        "writes_baseline": True,
    }
    assert (document["bypass_fastfail"], document["has_tests"], document["skipped_suites"]) == (True, True, [])
    assert document["needs_image"] == {"cuda": True, "rocm": False}
    ((test),) = document["tests"]
    assert test == {
        "file": "tests/e2e/megatron/test_moonlight_16B_A3B.py",
        "backend": "cuda",
        "home_suite": H100,
        "suite": H100,
        "est_time_s": 900.0,
        "cost_s": 900.0,
        "shard": [0, 2],
        "labels": ["megatron"],
        "nightly": False,
        "implicit": False,
        "gates": 0,
    }
    ((disabled),) = document["disabled"]
    assert (disabled["file"], disabled["reason"]) == ("tests/e2e/ft/test_rollout_fault.py", "waits for NCCL 2.27")
    assert json.loads(json.dumps(document)) == document


def test_a_suite_tells_its_backend(planner):
    """Without --hw the suite's own backend stands there; without both, null."""
    assert plan_json(planner.plan("nightly", suite=H100))["hw"] == "cuda"
    assert (plan_json(planner.plan("nightly"))["hw"], plan_json(planner.plan("nightly"))["shard"]) == (None, None)


def test_what_is_left_out_for_machines(planner):
    """Every registration is planned, disabled or skipped with a reason; a warning has a kind."""
    document = plan_json(planner.plan("regular", "megatron", "run-on-blackwell", "run-ci-megatrn"))
    assert [warning["kind"] for warning in document["warnings"]] == ["unknown_label"]
    rules = {row["file"]: row["rule"] for row in document["skipped"]}
    assert rules["tests/e2e/fsdp/test_qwen3_0.6B_fsdp.py"] == "nightly_only"
    moonlight = [row["reason"] for row in document["skipped"] if "moonlight" in row["file"]]
    assert "not on blackwell: it supports hopper, not blackwell" in moonlight
    told = {row["file"] for key in ("tests", "disabled", "skipped") for row in document[key]}
    assert told == {one.test.test_path for one in planner.plan("regular").considered}


def test_outputs(planner):
    """What a workflow reads with fromJSON and ``if:``."""
    outputs = github_outputs(planner.plan("weekly", config=two_shards(planner)))
    assert {
        name: outputs[name] for name in ("cadence", "labels", "bypass_fastfail", "writes_baseline", "has_tests")
    } == {
        "cadence": "weekly",
        "labels": "[]",
        "bypass_fastfail": "true",
        "writes_baseline": "true",
        "has_tests": "true",
    }
    assert {name for name in outputs if name.startswith("needs_image_")} == {f"needs_image_{b}" for b in BACKENDS[1:]}
    jobs = json.loads(outputs["matrix"])["include"]
    assert [job["shard"] for job in jobs if job["suite"] == H100] == ["0/2", "1/2"]
    assert [job for job in jobs if job["suite"] == H100][1] == {
        "suite": H100,
        "backend": "cuda",
        "generation": "hopper",
        "gpus": 8,
        "runner": ["h100", "8gpu"],
        "shard": "1/2",
        "shard_index": 1,
        "shard_count": 2,
        "tests": 2,
        "est_time_s": 1200.0,
        "needs": [],
        "needs_image": True,
    }


def test_what_starts_first(planner):
    """Jobs of one matrix cannot wait for each other, so those that wait stand in a matrix of their own."""
    outputs = github_outputs(planner.plan("regular", "megatron"))
    first, after = (json.loads(outputs[name])["include"] for name in ("matrix_first", "matrix_after"))
    assert ([job["suite"] for job in first], [job["suite"] for job in after]) == ([CPU], [H100])
    assert after[0]["needs"] == [CPU]
    everything = json.loads(outputs["matrix"])["include"]
    assert everything == first + after
    nightly = github_outputs(planner.plan("nightly"))
    assert (nightly["has_tests_first"], nightly["has_tests_after"]) == ("true", "false")


def test_nothing_to_run_for_github(planner):
    """has_tests guards a matrix that GitHub would refuse."""
    outputs = github_outputs(planner.plan("regular", hw="cuda"))
    assert (outputs["has_tests"], outputs["matrix"]) == ("false", '{"include":[]}')


def test_an_empty_shard_is_no_job(planner):
    """A runner is not started for nothing."""
    jobs = json.loads(github_outputs(planner.plan("nightly", suite=H100, config=two_shards(planner, 5)))["matrix"])
    assert [job["shard"] for job in jobs["include"]] == ["0/5", "1/5"]


def test_more_jobs_than_github_takes(planner):
    """Refused here, in words, and not by a workflow that does not start."""
    registration = f'register_cuda_ci(est_time=9, suite="{H100}", labels=["lora"], hardware=["hopper"])\n'
    for index in range(MOST_MATRIX_JOBS):
        planner.write(f"tests/e2e/many/test_{index}.py", registration)
    with pytest.raises(ConfigError, match=r"^--github-output: the matrix would have 257 jobs"):
        github_outputs(planner.plan("regular", "lora", config=two_shards(planner, 256)))


def test_outputs_are_appended(planner, tmp_path):
    """Other steps' outputs stay; each value is between two marks that differ from one write to the next."""
    file = tmp_path / "out"
    file.write_text("earlier=1\n")
    outputs = {"a": "x", "b": 'y\na<<EOF\nz\nEOF\n"', "c": ""}
    append_outputs(outputs, {"GITHUB_OUTPUT": str(file)})
    text = file.read_text()
    assert text.startswith("earlier=1\n")
    file.write_text(text.removeprefix("earlier=1\n"))
    assert written(file) == outputs
    marks = re.findall(r"^[abc]<<(driftgate-[0-9a-f]{32})$", text, re.MULTILINE)
    assert len(set(marks)) == 3


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "GITHUB_OUTPUT is not set"),
        ({"GITHUB_OUTPUT": ""}, "GITHUB_OUTPUT is not set"),
        ({"GITHUB_OUTPUT": "/"}, "cannot be written"),
    ],
)
def test_outputs_that_cannot_be_written(environment, message):
    """One line that names the option."""
    with pytest.raises(ConfigError, match=f"^--github-output: .*{message}"):
        append_outputs({"a": "b"}, environment)


def test_a_label_cannot_set_an_output(planner, tmp_path):
    """A label is a stranger's text: a line break in it never reaches the file."""
    event = {"pull_request": {"labels": [{"name": "run-ci-all\nhas_tests=false"}, {"name": "x`$(id)`"}]}}
    planner.environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(planner.write("event.json", json.dumps(event))),
        "GITHUB_OUTPUT": str(tmp_path / "out"),
    }
    planner.output(github_output=True)
    found = written(Path(planner.environment["GITHUB_OUTPUT"]))
    assert (found["labels"], found["has_tests"]) == ("[]", "true")


def test_must_contain(planner, tmp_path):
    """A test that is not in the plan fails it before anything is written, with the reasons."""
    planner.environment["GITHUB_OUTPUT"] = str(tmp_path / "out")
    planned = planner.home / "tests/fast/test_metric_naming.py"
    assert planner.output(must_contain=(planned,), github_output=True)
    (tmp_path / "out").unlink()
    missing = planner.home / "tests/e2e/long/test_gsm8k_long.py"
    with pytest.raises(ConfigError) as caught:
        planner.output(must_contain=(planned, missing), github_output=True)
    first, *reasons = str(caught.value).splitlines()
    assert first == "--must-contain: not in the plan"
    assert reasons[0] == "tests/e2e/long/test_gsm8k_long.py: does not run"
    assert not (tmp_path / "out").exists()


def test_hostile_names_of_files_that_are_given(planner):
    """A path with a line break or an escape stays on its line in every message."""
    name = Path("a\n::error::b\x1b[31m")
    for options in ({"durations": name}, {"file": name}, {"must_contain": (name,)}):
        with pytest.raises((ConfigError, SourceError)) as caught:
            planner.output(**options)
        assert not any(line.startswith("::") or "\x1b" in line for line in str(caught.value).splitlines())
    planner.environment["GITHUB_OUTPUT"] = "/missing/" + str(name)
    with pytest.raises(ConfigError) as caught:
        planner.output(github_output=True)
    assert str(caught.value).isprintable()
    text = planner.output(changed_files=name)
    assert not any(line.startswith("::") or "\x1b" in line for line in text.splitlines())


def test_a_snapshot_needs_a_file(planner):
    """The untrusted checkout is never planned as a whole."""
    with pytest.raises(ConfigError, match=r"^--snapshot: needs --file"):
        planner.output(snapshot=planner.home)


def test_one_file_of_a_snapshot(planner, tmp_path):
    """Read as data from another checkout, planned by this configuration and that checkout's labels."""
    other = tmp_path / "other"
    (other / "tests/e2e").mkdir(parents=True)
    (other / "driftgate.toml").write_text('[labels]\nbrand-new = "New"\n[suites.stage-a-cpu]\nrunner = ["mine"]\n')
    registration = f'register_cuda_ci(est_time=9, suite="{H100}", labels=["brand-new"], hardware=["hopper"])\n'
    (other / "tests/e2e/test_new.py").write_text(f"raise SystemExit\n{registration}")
    document = json.loads(planner.output(file=Path("tests/e2e/test_new.py"), snapshot=other, json=True))
    assert [(test["file"], test["suite"]) for test in document["tests"]] == [("tests/e2e/test_new.py", H100)]
