"""Every mistake in a configuration is one line: the source, the key, what was found and what is expected."""

import pytest

from driftgate.config.load import load_config
from gate.errors import ConfigError

MISTAKES = [
    # unknown keys
    ('projekt = "a"', "projekt: unknown key (did you mean 'project'?); valid: project, preset"),
    ("[gate]\nhistroy = 3", "gate.histroy: unknown key (did you mean 'history'?); valid: profile"),
    ('[suites.a]\nbackend = "cpu"\ngpu = 1', "suites.a.gpu: unknown key (did you mean 'gpus'?)"),
    ('[gate.defaults."a/b"]\nstep = "all"', "gate.defaults.\"a/b\".step: unknown key (did you mean 'steps'?)"),
    ("[retry]\nx = 1", "retry.x: unknown key"),
    ("[retry]\nwait = -1", "retry.wait: found -1, expected a number from 0"),
    ('[retry.rules.a]\nretry = true\npatterns = ["("]', "retry.rules.a.patterns: found"),
    ("[retry.rules.a]\ntimeouts = true", "retry.rules.a: needs retry"),
    ('[requests.generations]\nrun-on-mars = "mars"', "requests.generations.run-on-mars: unknown 'mars'"),
    ('[labels]\nall = "All"', "requests: label 'run-ci-all' has more than one meaning; rename one of them"),
    ('[cadences.a]\npr_labels = ["run-on-hopper"]', "requests: label 'run-on-hopper' has more than one meaning"),
    ('[requests]\nbypass_fast_fail = ["go on"]', "requests: 'go on' would be ignored: a label has letters, digits and"),
    ('[requests.scopes."a b"]\nscope = "all"', "requests: 'a b' would be ignored"),
    ("[service]\nx = 1", "service.x: unknown key"),
    # wrong types
    ("project = 3", "project: found 3, expected a non-empty string"),
    ('project = " "', "project: found ' ', expected a non-empty string"),
    ('project = "a\\u0007"', "expected a string without control characters"),
    ("gate = 3", "gate: found 3, expected a table with profile, history"),
    ("suites = []", "suites: found [], expected a table with names of your choice"),
    ("suites.a = 3", "suites.a: found 3, expected a table with backend"),
    ("labels.a = 3", "labels.a: found 3, expected a non-empty string"),
    ('capture.metrics = "a"', "capture.metrics: found 'a', expected a list of non-empty strings"),
    ('capture.metrics = ["a", ""]', "capture.metrics: found ['a', ''], expected a list of non-empty strings"),
    ('capture.metrics = ["a", "a"]', "capture.metrics: found ['a', 'a'], expected each entry once"),
    ('write.pr_label_writes = "yes"', "write.pr_label_writes: found 'yes', expected true or false"),
    ("command = []", "command: found an empty list, expected a command"),
    ("[store]\nurl = 3", "store.url: expected a database URL"),
    ('[store]\nurl = "history.db"', "store.url: expected a database URL such as sqlite:///"),
    # choices
    (
        '[gate]\nprofile = "strikt"',
        "gate.profile: found 'strikt' (did you mean 'strict'?), expected one of strict, bal",
    ),
    ('[gate]\ntrust = "x"', "gate.trust: found 'x', expected one of run, metric"),
    ('[suites.a]\nbackend = "gpu"', "suites.a.backend: found 'gpu' (did you mean 'cpu'?), expected one of cpu, cuda"),
    ("[enforcement]\non_outage = 1", "enforcement.on_outage: found 1, expected one of fail, shadow"),
    # numbers
    ("[gate]\nhistory = 0", "gate.history: found 0, expected an integer from 1 to 500"),
    ("[gate]\nhistory = 501", "gate.history: found 501, expected an integer from 1 to 500"),
    ("[gate]\nhistory = 2.0", "gate.history: found 2.0, expected an integer"),
    ("[gate]\nhistory = true", "gate.history: found True, expected an integer"),
    ("[gate]\nmin_points_ratio = 0", "gate.min_points_ratio: found 0, expected a number above 0, at most 1"),
    ("[gate]\nshift_runs = 4", "gate.shift_runs: found 4, expected an integer from 5 to 20"),
    ("[gate]\nshift_fraction = 0", "gate.shift_fraction: found 0, expected a number above 0, at most 1"),
    ("[gate]\nmin_points_ratio = 1.1", "gate.min_points_ratio: found 1.1, expected a number above 0, at most 1"),
    ("[timeouts]\ntimeout_per_file = 0", "timeouts.timeout_per_file: found 0, expected a number above 0"),
    ("[timeouts]\ntimeout_per_file = -1", "timeouts.timeout_per_file: found -1, expected a number above 0"),
    ("[timeouts]\ntimeout_per_file = nan", "timeouts.timeout_per_file: found nan, expected a number above 0"),
    ("[timeouts]\ntimeout_per_file = inf", "timeouts.timeout_per_file: found inf, expected a number above 0"),
    ("[timeouts]\ntimeout_per_file = true", "timeouts.timeout_per_file: found True, expected a number above 0"),
    ("[timeouts]\ncap = 1000", "timeouts.timeout_per_file: 1200 is above timeouts.cap 1000"),
    ("[timeouts]\ntimeout_per_file = 86401", "timeouts.timeout_per_file: 86401 is above timeouts.cap 86400"),
    ('[suites.a]\nbackend = "cpu"\nshards = 0', "suites.a.shards: found 0, expected an integer from 1"),
    (
        '[suites.stage-a-cpu]\nneeds = ["stage-a-cpu"]',
        "suites: they wait for each other, so that none starts: stage-a-cpu",
    ),
    ('[suites.stage-a-cpu]\nneeds = ["stage-c-8-gpu-h100"]', "stage-a-cpu needs stage-c-8-gpu-h100 needs stage-a-cpu"),
    ('generations = ["a", "a"]', "generations: found ['a', 'a'], expected each entry once"),
    ("[retry.rules.a]\nretry = true", "retry.rules.a: fits no failure; give exceptions, patterns or timeouts = true"),
    ("[retry.rules.pass]\nretry = true\ntimeouts = true", "retry.rules.pass: pass is no class of failures"),
    # forms
    ('[cadences.a]\ncrons = ["0 15 * *"]', "cadences.a.crons: found '0 15 * *', expected five cron fields"),
    ('[cadences.a]\nscope = "some"', 'cadences.a.scope: found \'some\', expected "all", "none" or'),
    ('[cadences.a]\nscope = {only = ["long"]}', "cadences.a.scope: found {'only': ['long']}, expected"),
    ('[discovery]\nroots = "tests"', "discovery.roots: found 'tests', expected a list of folders"),
    ("[discovery]\nroots = [3]", "discovery.roots: found 3, expected a folder or a table with path"),
    ("[discovery]\nroots = [{}]", "discovery.roots: found {}, expected a path in each entry"),
    ('[discovery]\nroots = [{pth = "a"}]', "discovery.roots: pth: unknown key (did you mean 'path'?)"),
    ('[discovery]\nroots = [{path = "a", forbid = ["gpu"]}]', "discovery.roots: forbid: found 'gpu'"),
    (
        '[discovery]\nroots = [{path = "a", default = {suite = "b"}}]',
        "default of 'a' needs backend, suite and est_time",
    ),
    ('[gate.defaults.a]\nsteps = "lst"\nconstraint = {rel_up = 1, rel_down = 1}', "gate.defaults.a.steps: found 'lst'"),
    ('[gate.defaults.a]\nsteps = "all"\nconstraint = {rel_up = 1}', "this side would have a band of zero"),
    # rows and references
    ('[gate.defaults.a]\nsteps = "all"', "gate.defaults.a: needs constraint"),
    ("[suites.a]\ngpus = 1", "suites.a: needs backend"),
    ("[suites.a]", "suites.a: needs backend"),
    (
        '[suites.a]\nbackend = "cuda"\ngeneration = "hoper"',
        "suites.a.generation: unknown 'hoper' (did you mean 'hopper'?)",
    ),
    ('[suites.a]\nbackend = "cuda"', "suites.a: needs generation, for its backend is cuda; valid: hopper, blackwell"),
    (
        'preset = "none"\n[suites.a]\nbackend = "cuda"\ngeneration = "ampere"',
        "suites.a.generation: unknown 'ampere'; valid: none; list it in generations",
    ),
    (
        '[suites.a]\nbackend = "cpu"\nneeds = ["stage-a-cpo"]',
        "suites.a.needs: unknown 'stage-a-cpo' (did you mean 'stage-a",
    ),
    ('[cadences.a]\nscope = {all_except = ["lng"]}', "cadences.a.scope: unknown 'lng' (did you mean 'long'?)"),
    ('[cadences.a]\ncrons = ["0 15 * * 6"]', "cadences: '0 15 * * 6' stands in the crons of more than one cadence"),
    (
        '[discovery]\nroots = [{path = "a", default = {backend = "cpu", suite = "x", est_time = 1}}]',
        "discovery.roots: unknown 'x'; valid: stage-a-cpu",
    ),
    (
        '[discovery]\nroots = [{path = "a", default = {backend = "rocm", suite = "stage-a-cpu", est_time = 1}}]',
        "discovery.roots: default suite stage-a-cpu is cpu, not rocm",
    ),
]


def error_of(folder, **options):
    with pytest.raises(ConfigError) as caught:
        load_config(**{"file": None, "start": folder, "env": {}, "options": {}, **options})
    return str(caught.value)


@pytest.mark.parametrize(("text", "words"), MISTAKES, ids=[text for text, _ in MISTAKES])
def test_each_mistake_names_the_key(tmp_path, text, words):
    """What was found, what is expected, the nearest name; one line."""
    (tmp_path / "driftgate.toml").write_text(text)
    message = error_of(tmp_path)
    assert words in message
    assert "\n" not in message


def test_all_mistakes_of_a_file_come_at_once_and_name_it(tmp_path):
    """Nobody has to run again to learn of the next."""
    file = tmp_path / "driftgate.toml"
    file.write_text('projekt = "a"\n[gate]\nhistory = 0\nx = 1')
    lines = error_of(tmp_path).splitlines()
    assert len(lines) == 3
    assert all(line.startswith(f"{file}: ") for line in lines)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b'project = "a"\ngate = = 3\n', 2, "not valid TOML: Invalid value"),
        (b'project = "a"\n[gate', 2, "not valid TOML: Expected ']'"),
        (b'project = "a"\nproject = "b"\n', 2, "not valid TOML: Cannot overwrite a value"),
        (b'project = "a"\n# \xff\n', 2, "not UTF-8"),
        (b"x = " + b"[" * 100_000, 0, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_toml_names_its_line(tmp_path, content, line, words):
    """The file and the line, so that an editor finds it."""
    file = tmp_path / "driftgate.toml"
    file.write_bytes(content)
    message = error_of(tmp_path)
    assert message.startswith(f"{file}:{line}: " if line else f"{file}: ")
    assert words in message


def test_a_file_asked_for_that_is_missing_or_a_folder_is_an_error(tmp_path):
    """It is never replaced by another one."""
    assert "cannot be read (No such file or directory)" in error_of(tmp_path, file=tmp_path / "none.toml")
    assert "cannot be read (Is a directory)" in error_of(tmp_path, file=tmp_path)


def test_a_pyproject_asked_for_needs_the_table(tmp_path):
    """A table of another type is named too."""
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool]")
    assert "has no table [tool.driftgate]" in error_of(tmp_path, file=file)
    file.write_text("[tool]\ndriftgate = 3")
    assert "tool.driftgate: found 3, expected a table" in error_of(tmp_path)


def test_an_option_and_a_variable_are_named_as_the_source(tmp_path):
    """The person looks in the right place."""
    options = {"timeouts.timeout_per_file": float("nan")}
    assert error_of(tmp_path, options=options) == (
        "option: timeouts.timeout_per_file: found nan, expected a number above 0, at most 604800"
    )
    assert error_of(tmp_path, env={"DRIFTGATE_PROJECT": "\x07"}).startswith("environment DRIFTGATE_PROJECT: project: ")


def test_a_password_is_never_quoted_and_never_read_from_a_file(tmp_path):
    """Secrets come from the environment alone; a wrong one does not appear in the message."""
    assert "hunter2" not in error_of(tmp_path, env={"DRIFTGATE_DATABASE_URL": "postgres:hunter2@host"})
    (tmp_path / "driftgate.toml").write_text('[store]\nurl = "postgres://me:hunter2@host/db"')
    message = error_of(tmp_path)
    assert "store.url: holds a password; secrets come from DRIFTGATE_DATABASE_URL alone" in message
    assert "hunter2" not in message
    env = {"DRIFTGATE_DATABASE_URL": "postgres://me:hunter2@host/db"}
    (tmp_path / "driftgate.toml").write_text('[store]\nurl = "postgres://me@host/db"')
    assert load_config(file=None, start=tmp_path, env=env, options={}).store.url == env["DRIFTGATE_DATABASE_URL"]
