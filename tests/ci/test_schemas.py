"""What GitHub and GitLab themselves accept: their schemas, as check-jsonschema carries them."""

import subprocess
import sys
from pathlib import Path

import pytest

NO_NETWORK = {
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}
GITHUB, ACTION = "vendor.github-workflows", "vendor.github-actions"
GITLAB = ("vendor.gitlab-ci", "--data-transform", "gitlab-ci")


def check(schema, *paths):
    """Exit code and output of the check. No proxy answers: a schema that had to be fetched would fail."""
    name, *options = (schema,) if isinstance(schema, str) else schema
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [program, "--builtin-schema", name, *options, *map(str, paths)]
    done = subprocess.run(command, env=NO_NETWORK, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_example_workflows_are_valid(files):
    """Every file is a workflow."""
    assert len(files.WORKFLOWS) >= 7
    code, output = check(GITHUB, *files.WORKFLOWS)
    assert code == 0, output


def test_the_action_is_valid(files):
    """action.yml is a composite action."""
    code, output = check(ACTION, files.ACTION)
    assert code == 0, output


def test_the_pipeline_is_valid(files):
    """.gitlab-ci.yml is a pipeline."""
    code, output = check(GITLAB, files.GITLAB / ".gitlab-ci.yml")
    assert code == 0, output


@pytest.mark.parametrize(
    ("schema", "text", "words"),
    [
        (GITHUB, "on: push\njobs: {a: {runs-on: x, step: []}}", "step"),
        (GITHUB, "on: {schedule: [{corn: '0 15 * * 6'}]}\njobs: {a: {runs-on: x}}", "corn"),
        (GITHUB, "on: push\npermissions: {actions: wirte}\njobs: {a: {runs-on: x}}", "wirte"),
        (ACTION, "name: a\ndescription: b\nruns: {using: composite, steps: [{run: x}]}", "shell"),
        (GITLAB, "a: {script: [x], artifact: {}}", "artifact"),
    ],
)
def test_the_schemas_refuse_what_is_wrong(tmp_path, schema, text, words):
    """The check can fail."""
    path = tmp_path / "wrong.yml"
    path.write_text(text)
    code, output = check((*((schema,) if isinstance(schema, str) else schema), "--verbose"), path)
    assert code == 1
    assert words in output
