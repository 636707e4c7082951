"""Every driftgate command and option in a CI file exists."""

import re

import pytest
import typer.main

from driftgate import plan
from driftgate.cli.app import app
from driftgate.config.load import load_config
from driftgate.harness.github_outputs import github_outputs
from driftgate.harness.plan import PlanRequest, make_plan
from driftgate.harness.trigger import Requests, Trigger

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def tree(command):
    """Nested names of commands; a command without others has none."""
    return {name: tree(child) for name, child in getattr(command, "commands", {}).items()}


ROOT = typer.main.get_command(app)
COMMANDS = tree(ROOT)
BARE_PLAN = {flag for action in plan.parser()._actions for flag in action.option_strings}


def options_of(*names):
    command = ROOT
    for name in names:
        command = command.commands[name]
    return {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}


def assert_known(calls):
    for call in calls:
        assert call.command, f"{call.where}: no such command"
        assert set(call.options) <= options_of(*call.command), (call.where, call.command)


def scripts(files):
    for path in files.WORKFLOWS:
        yield from ((step.where, step.script) for step in files.steps_of(path))
    for name, job in files.load(files.GITLAB / ".gitlab-ci.yml").items():
        if isinstance(job, dict):
            yield f"gitlab {name}", "\n".join(job.get("script", ()))
    for block in re.findall(r"```sh\n(.*?)```", (files.GITLAB / "README.md").read_text(), re.DOTALL):
        yield "gitlab README", block


def test_scripts_call_what_exists(files):
    """Commands and options of every script, those of pages too."""
    calls = [call for where, script in scripts(files) for call in files.calls_in(where, script, COMMANDS)]
    assert {call.command for call in calls} >= {("run",), ("plan",), ("ci-report",), ("rerun-policy",), ("baseline",)}
    assert_known(calls)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("driftgate run a.py --cadence=nightly -- x", [(("run",), ("--cadence",))]),
        ("set -e\nx=$(driftgate epoch list \\\n  --json | jq --raw-output .)", [(("epoch", "list"), ("--json",))]),
        ("driftgate plna --hw cpu", [((), ("--hw",))]),
        ("if driftgate plan --hw cpu && driftgate run b; then", [(("plan",), ("--hw",)), (("run",), ())]),
        ("# driftgate run --bad\necho driftgate run", []),
    ],
)
def test_calls_are_found(files, script, expected):
    """The reader of scripts sees commands, options, and names that are none."""
    assert [(call.command, call.options) for call in files.calls_in("", script, COMMANDS)] == expected


def test_the_action_gives_options_that_exist(files):
    """A plan on a bare runner, a run with everything installed."""
    scripts = {step.step["name"]: step.script for step in files.steps_of(files.ACTION)}
    assert set(OPTION.findall(scripts["Plan"])) <= BARE_PLAN
    assert set(OPTION.findall(scripts["Run"])) <= options_of("run")
    assert {"--hw", "--suite", "--shard", "--cadence", "--label"} <= set(OPTION.findall(scripts["Run"]))


def test_the_action_is_used_as_it_asks(files, step):
    """Inputs that it has; more arguments are options of the command that they go to."""
    if not step.uses.startswith(files.OUR_ACTION):
        return
    assert set(step.inputs) <= set(files.load(files.ACTION)["inputs"])
    known = {"plan": BARE_PLAN, "run": options_of("run"), "install": set()}[step.inputs.get("command", "run")]
    assert set(OPTION.findall(step.inputs.get("args", ""))) <= known


def test_the_action_publishes_what_the_plan_says(files, tmp_path):
    """Its outputs are those of ``plan --github-output``, and the reports of a run."""
    config = load_config(file=None, start=tmp_path, env={}, options={"discovery.roots": ["tests"]})
    (tmp_path / "tests").mkdir()
    outputs = github_outputs(make_plan(PlanRequest(config, Trigger(requests=Requests(cadence="nightly")))))
    published = files.load(files.ACTION)["outputs"]
    planned = {name: output["value"] for name, output in published.items() if "steps.plan." in output["value"]}
    assert planned == {name: f"${{{{ steps.plan.outputs.{name} }}}}" for name in outputs}
