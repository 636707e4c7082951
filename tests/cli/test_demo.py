"""``driftgate demo``: the whole loop on the real example."""

import re
import signal
import subprocess
import sys
from subprocess import PIPE

import pytest


def test_the_whole_loop(person, clean):
    """A baseline, a bug, then a drift that the corridor never sees; commands for looking around that work; in CI, too."""
    clean.setenv("CI", "true")
    clean.setenv("GITHUB_STEP_SUMMARY", str(person.home / "summary.md"))
    answer = person.call("demo", "--nights", "4")
    assert (answer.code, answer.err) == (0, "")
    assert not (person.home / "summary.md").exists()
    nights = re.findall(r"^  night +(\d+): test passed in .* s; gate: (\w+ ?\w*) \(", answer.out, re.MULTILINE)
    assert [int(number) for number, _ in nights] == list(range(1, len(nights) + 1))
    outcomes = [outcome for _, outcome in nights]
    assert outcomes[:5] == ["TRUSTED"] * 4 + ["NOT TRUSTED"]
    assert outcomes[5:] == ["TRUSTED"] * (len(outcomes) - 6) + ["NOT TRUSTED"]
    assert len(outcomes) > 5 + 16
    bug, drift = answer.out.split("The bug is fixed.")
    assert re.search(r"train/ppo_kl step \d+: .* bands above the mean .* of 4 runs", bug)
    assert re.search(r"(shift|anchor|spread) fail: ", drift)
    assert "corridor fail" not in drift
    assert "The database is .driftgate/demo/history.db" in answer.out
    _, next_steps = answer.out.split("Look around:")
    shown = re.findall(r"^  .*? ((?:baseline|runs) .*)$", next_steps, re.MULTILINE)
    assert [person.call(*words.split()).code for words in shown] == [0, 0, 0, 0]


def test_again_and_as_json(person):
    """An earlier demo's folder is made anew; the verdicts on the bug and on the drift alone are on stdout."""
    person.write(".driftgate/demo/driftgate.toml", "")
    person.write(".driftgate/demo/history.db", "of an earlier version")
    found = person.json("demo", "--nights", "4")
    for verdict in (found, found["drift"]):
        assert (verdict["schema"], verdict["verdict"], verdict["written"]["trusted"]) == (1, "not_trusted", False)


def test_an_interruption(person):
    """Ctrl-C is exit 130 and one line."""
    command = [sys.executable, "-m", "driftgate", "demo"]
    with subprocess.Popen(command, cwd=person.home, stdout=PIPE, stderr=PIPE, text=True) as demo:
        assert any("night  1" in line for line in demo.stdout)
        demo.send_signal(signal.SIGINT)
        _, err = demo.communicate(timeout=60)
    assert (demo.returncode, err) == (130, "driftgate: interrupted\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--nights", "3"), "invalid value for '--nights'"),
        (("--folder", "mine"), "mine holds something else than a demo"),
    ],
)
def test_refusals(person, options, message):
    """Fewer nights make no baseline, and nobody's folder is made anew."""
    path = person.write("mine/work.txt", "precious")
    answer = person.call("demo", *options)
    assert (answer.code, len(answer.lines), message in answer.err) == (2, 1, True)
    assert path.read_text() == "precious"
