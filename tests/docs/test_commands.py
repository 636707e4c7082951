"""The commands that the documentation shows are run, in order, and print what it shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.harness.test_files import read_test_file

SHELL = ("sh", "bash", "console", "shell")
BLOCK_ENDS = "\x1e"
FILE_ENDS = "end of the file"
PROMISED_URL = re.compile(r"postgresql://ci:secret@[\w.-]+/driftgate")


@pytest.fixture
def shell(tmp_path, request, blocks):
    """Runs one script after the other in one shell in a folder of its own; returns what each printed.

    ``with Postgres`` in a mark puts a real database behind the URLs of the page; ``in GitHub`` makes it a scheduled job.
    """
    marks = " ".join(block.mark for block in blocks)
    url = request.getfixturevalue("empty_postgres_url") if "with Postgres" in marks else ""
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    environment |= _github(tmp_path) if "in GitHub" in marks else {}

    def run(scripts):
        script = f"\nprintf '{BLOCK_ENDS}'\n".join(scripts)
        command = ["bash", "-euo", "pipefail", "-c", PROMISED_URL.sub(url, script)]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout.split(BLOCK_ENDS)

    return run


def _github(folder):
    """The environment of a job that the preset's nightly cron line started."""
    event = folder / "event.json"
    event.write_text('{"schedule": "0 15 * * 0-5"}')
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "schedule",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_RUN_ID": "4711",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }


def _scripts(blocks):
    """One for each block to be run. A file of the page is there from where the page shows it, in its last version."""
    files = ""
    for block in blocks:
        if block.kind == "file":
            files += f"mkdir -p '{Path(block.detail).parent}'; cat > '{block.detail}' <<'{FILE_ENDS}'\n{block.text}{FILE_ENDS}\n"
        elif block.kind == "run":
            yield files + _script(block)
            files = ""


def _script(block):
    """Shell as it stands, steps out of a workflow; an exit code that is promised must come."""
    steps = re.findall(r"- run: (.+)", block.text)
    text = "\n".join(steps) if block.language == "yaml" else block.text
    promised = re.fullmatch(r"exits (\d+)", block.detail)
    return f"code=0; (\n{text}\n) || code=$?; [ $code = {promised[1]} ]" if promised else text


def test_a_story_runs_as_written(story, blocks, shell):
    """Every block marked to be run succeeds, in the order of the page; what it is shown to print, it prints."""
    setting = "driftgate init" if any("after init" in block.mark for block in blocks) else "true"
    _, *printed = shell([setting, *_scripts(blocks)])
    for shown, whole, actual in _promises(blocks, printed):
        assert not [line for line in shown if line not in actual], actual
        assert not whole or shown == actual


def _promises(blocks, printed):
    """Shown lines, whether they are all of them, and the lines that the block before printed; both masked."""
    index = -1
    for block in blocks:
        if block.kind == "run":
            index += 1
        elif block.kind == "output":
            yield _masked(block.text), not block.detail, _masked(printed[index])


def _masked(text):
    """What differs from run to run is the same: run ids, and times."""
    text = re.sub(r"\b[0-9a-f]{32}\b", "ID", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "TIME", text)
    return re.sub(r"\b\d+\.\d s\b", "N s", text).splitlines()


def test_every_command_shown_is_run_or_says_why_not(page, blocks):
    """No block of shell commands goes untested unseen."""
    silent = [block.text for block in blocks if block.language in SHELL and block.kind not in ("run", "not run")]
    assert not silent


def test_python_shown_compiles(page, blocks):
    """Every Python block is Python."""
    for block in blocks:
        if block.language == "python":
            compile(block.text.replace("…", "..."), str(page), "exec")


def test_declarations_shown_are_valid(story, blocks, tmp_path):
    """Test files on a page, in their last version, are accepted as the harness reads them beside the page's driftgate.toml."""
    files = {tmp_path / block.detail: block.text for block in blocks if block.kind == "file"}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    config = load_config(file=None, start=tmp_path, env={}, options={})
    for path in files:
        if path.suffix == ".py":
            assert read_test_file(path, tmp_path, config).problems == ()
