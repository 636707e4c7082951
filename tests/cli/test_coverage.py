"""``driftgate coverage`` over a real tree and a real store."""

import pytest

GPU = 'from driftgate import register_cuda_ci, register_ci_gate\nregister_cuda_ci(est_time=9, suite="stage-c-8-gpu-h100", labels=["{}"], hardware=["hopper"]{})\nregister_ci_gate(metric_key="train/ppo_kl")\n'


@pytest.fixture
def tree(person):
    """One fed test with a run, one fed without, one that nightly and weekly leave out, one that is gone."""
    person.write("driftgate.toml", '[discovery]\nroots = ["tests/e2e"]\n')
    for name in ("fine", "gone"):
        person.test(name=f"tests/e2e/test_{name}.py")
        person.json("gate", f"tests/e2e/test_{name}.py", "--records", person.record(1.0), "--cadence", "nightly")
    (person.home / "tests/e2e/test_gone.py").unlink()
    person.write("tests/e2e/test_new.py", GPU.format("megatron", ""))
    person.write("tests/e2e/test_off.py", GPU.format("megatron", ', disabled="needs a new image"'))
    return person


def test_what_nobody_feeds(tree):
    """Grouped by what is wrong, each with its reason; what is fine is only counted."""
    answer = tree.call("coverage")
    assert (answer.code, answer.lines) == (0, ["4 series, 1 fine"])
    unfed, never_run, gone = answer.out.split("\n\n")
    assert "test_off.py" in unfed
    assert "needs a new image" in unfed
    assert "no run is stored, though nightly, weekly should write one" in never_run
    assert "no file of that name below [discovery] roots" in gone
    assert "test_fine.py" not in answer.out


def test_coverage_for_machines(tree):
    """Every series with what feeds it and what the store knows."""
    found = {one["series"]["test_path"].rpartition("_")[2]: one for one in tree.json("coverage")["series"]}
    assert found["fine.py"]["fed_by"] == ["nightly", "weekly"]
    assert (found["fine.py"]["runs"], found["fine.py"]["findings"], found["fine.py"]["untrusted_streak"]) == (1, [], 0)
    assert (found["new.py"]["runs"], found["new.py"]["findings"][0]["kind"]) == (None, "never_run")
    assert [one["kind"] for one in found["gone.py"]["findings"]] == ["gone"]


def test_the_tree_alone(tree):
    """Without any store: for a pull request, which has no secret. No database appears either."""
    answer = tree.call("coverage", "--tree-only", "--db", "postgresql://ci@127.0.0.1:1/history")
    assert (answer.code, answer.lines) == (0, ["3 series, 2 fine"])
    assert "test_off.py" in answer.out


def test_mistakes_in_test_files(tree):
    """All of them, as in a plan: a wrong registration is no coverage."""
    tree.write("tests/e2e/test_bad.py", "import driftgate\ndriftgate.register_cpu_ci(est_time=1)\n")
    tree.write("tests/e2e/test_none.py", "")
    answer = tree.call("coverage")
    assert (answer.code, answer.out) == (2, "")
    assert {"test_bad" in answer.err, "test_none" in answer.err} == {True}


def test_missing_roots(person):
    """Named, with what to write."""
    answer = person.call("coverage")
    assert (answer.code, "[discovery] roots" in answer.err) == (2, True)
