"""``driftgate demo``: the whole loop on real (tiny) training, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from driftgate.cli.output import print_json
from driftgate.cli.session import Session, command
from driftgate.cli.shadowing import distribution_root
from driftgate.harness.outcome import JobExit
from gate.errors import ConfigError, DriftgateError

if TYPE_CHECKING:
    from driftgate.harness.run import TestReport

TEST = Path("examples", "bandit", "test_bandit_ppo.py")
BUG, DRIFT, SEED = "DRIFTGATE_DEMO_BUG", "DRIFTGATE_DEMO_DRIFT", "DRIFTGATE_DEMO_SEED"
FIRST_SEED = 100
"""The nights' seeds count up from it: the demo tells the same story wherever it runs, and noise never spoils it."""
DRIFT_PER_NIGHT = 0.045
"""Of the learning rate: it raises the mean KL of the example by 0.001."""
MOST_DRIFTING = 30
CI_MARKS = ("GITHUB_ACTIONS", "GITLAB_CI", "CI", "GITHUB_STEP_SUMMARY")
"""Not for the demo's nights: they are nobody's CI runs, and nobody's job summary."""
CONFIG = """\
# Written by `driftgate demo`; the folder is made anew each time.
[gate]
profile = "balanced"

[store]
url = "sqlite:///history.db"
"""


@command
def demo(
    session: Session,
    *,
    nights: Annotated[
        int, typer.Option("--nights", min=4, max=200, help="Healthy nightly runs before the bug comes in.")
    ] = 8,
    folder: Annotated[Path, typer.Option("--folder", help="Where it works; made anew each time.")] = Path(
        ".driftgate", "demo"
    ),
) -> None:
    """The whole loop on real, tiny training. A policy learns night after night, then with a bug in its trainer.

    Example: driftgate demo
    """
    from gate.verdict_json import to_json

    _prepare(folder)
    nightly = _Nights(folder, quiet=session.json)
    broken = _first_act(nightly, nights)
    drifted = _second_act(nightly)
    nightly.say(_next_steps(folder, broken, drifted))
    if session.json:
        print_json(to_json(broken.judgement.verdict) | {"drift": to_json(drifted.judgement.verdict)})
    raise typer.Exit(JobExit.FINE)


def _first_act(nightly: _Nights, nights: int) -> TestReport:
    """A baseline, then a bug that the corridor sees at once. Returns the night with the bug."""
    nightly.say(f"{nights} nightly runs of {TEST}, a policy trained with PPO on this CPU, a new seed each:\n")
    for _ in range(nights):
        nightly.run({})
    nightly.say("\nThe next commit breaks the trainer a little. The test's own checks still pass:\n")
    report = nightly.run({BUG: "1"})
    nightly.report(report)
    if report.judgement.verdict.outcome != "not_trusted":
        raise DriftgateError("the demo's bug should have been NOT TRUSTED, and was not")
    return report


def _second_act(nightly: _Nights) -> TestReport:
    """A drift too slow for any single night, which the rolling mean follows. Returns the night that gave it away."""
    more = nightly.anchor_runs - nightly.trusted
    nightly.say(f"The bug is fixed. {more} more nights, and the first {nightly.anchor_runs} make an anchor:\n")
    while nightly.trusted < nightly.anchor_runs:
        nightly.run({})
    nightly.say(
        "\nFrom now on the learning rate creeps up, so that train/ppo_kl grows by about 0.001 a night. No night is far "
        "from the mean of recent nights, which follows; the anchor does not:\n"
    )
    for night in range(1, MOST_DRIFTING + 1):
        report = nightly.run({DRIFT: f"{night * DRIFT_PER_NIGHT:.3f}"})
        if report.judgement.verdict.outcome == "not_trusted":
            nightly.report(report)
            return report
    raise DriftgateError(f"the demo's drift should have been seen within {MOST_DRIFTING} nights, and was not")


def _prepare(folder: Path) -> None:
    """A fresh folder with the example, a configuration and no history."""
    if folder.exists() and not (folder / "driftgate.toml").is_file() and any(folder.iterdir()):
        raise ConfigError(f"{folder} holds something else than a demo; give another --folder")
    try:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(_example(), folder / TEST.parent, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "driftgate.toml").write_text(CONFIG, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot prepare {folder}: {error.strerror or error}") from error


def _example() -> Path:
    """The example as installed with the package, or in the checkout of an editable install."""
    root = distribution_root()
    candidates = (root / "driftgate" / "_examples" / "bandit", root / TEST.parent)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise ConfigError(f"the example is missing from this installation (looked in {candidates[0]}); install it again")


class _Nights:
    """Runs the test through the harness as a scheduled CI job would, and tells each night in a line."""

    def __init__(self, folder: Path, *, quiet: bool) -> None:
        from driftgate.config.load import load_config

        self._folder = folder
        self._quiet = quiet
        config = load_config(file=folder / "driftgate.toml", start=folder, env={}, options={})
        self._config = replace(config, repository=folder.absolute())  # whatever repository the folder lies in
        self._number = 0
        self.trusted = 0
        self.anchor_runs = config.gate.anchor_runs

    def say(self, text: str) -> None:
        if not self._quiet:
            print(text, flush=True)

    def report(self, report: TestReport) -> None:
        from gate.report import text_report

        self.say("\n" + text_report(report.judgement.verdict))

    def run(self, switches: Mapping[str, str]) -> TestReport:
        """The next night. Raises DriftgateError where the test itself did not pass, naming its log."""
        from driftgate.harness.run import run_tests
        from driftgate.harness.run_request import RunRequest
        from driftgate.harness.trigger import Requests

        self._number += 1
        log = self._folder / f"night-{self._number}.log"
        environment = {key: value for key, value in os.environ.items() if key not in CI_MARKS}
        environment |= {SEED: str(FIRST_SEED + self._number), **switches}
        request = RunRequest(
            files=(self._folder / TEST,),
            config=self._config,
            environment=environment,
            requests=Requests(cadence="nightly"),
        )
        with log.open("wb") as output:
            result = run_tests(request, partial(_write, output), _Silent())
        if result.interrupted:
            raise KeyboardInterrupt
        (report,) = result.tests
        if not report.passed:
            ended = report.attempts[-1].detail
            raise DriftgateError(f"night {self._number}: the test did not pass ({ended}); its output: {log}")
        self.trusted += report.judgement.verdict.trusted
        self.say(f"  night {self._number:2}: test passed in {report.duration_s:.1f} s; {_short(report)}")
        return report


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)


class _Silent:
    """The demo tells its own story."""

    def started(self, *_: object) -> None: ...

    def attempt_started(self, *_: object) -> None: ...

    def attempt_ended(self, *_: object) -> None: ...

    def attempt_follows(self, *_: object) -> None: ...

    def attempts_over(self, *_: object) -> None: ...

    def test_ended(self, *_: object) -> None: ...


def _short(report: TestReport) -> str:
    from gate.outline import headline

    verdict = report.judgement.verdict
    cold = " - a cold start: the baseline is being seeded" if verdict.trusted and not verdict.compared else ""
    return headline(verdict) + cold


def _next_steps(folder: Path, broken: TestReport, drifted: TestReport) -> str:
    config = f"--config {folder / 'driftgate.toml'}"
    runs = [report.judgement.verdict.written for report in (broken, drifted)]
    shown = "".join(f"\n  {_program()} runs show {written.run_id} {config}" for written in runs if written)
    return f"""\
Both tests passed, and the gate says NOT TRUSTED: these numbers will not enter the baseline.
The database is {folder / "history.db"}. Look around:
  {_program()} baseline {TEST} --metric train/ppo_kl {config}
  {_program()} runs list {config}{shown}
Then start with your own test: {_program()} init"""


def _program() -> str:
    """How this program can be started from here: by its name where that finds it, else by its path."""
    if shutil.which("driftgate"):
        return "driftgate"
    started = Path(sys.argv[0])
    return f"{Path(sys.executable).name} -m driftgate" if started.suffix == ".py" else os.path.relpath(started)
