"""The effective configuration: where it is found, which source wins, what its values become."""

from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.config.model import Cadence, Root, Scope, Suite
from gate.errors import ConfigError
from gate.policy import GatePolicy


@pytest.fixture
def load(tmp_path):
    def load(text=None, *, env=None, start=tmp_path, file=None, **options):
        if text is not None:
            (tmp_path / "driftgate.toml").write_text(text)
        dotted = {key.replace("__", "."): value for key, value in options.items()}
        return load_config(file=file, start=start, env=env or {}, options=dotted)

    return load


def test_without_any_file_the_preset_and_the_defaults_hold(load, tmp_path):
    """The command works with no file at all."""
    config = load()
    assert (config.base, config.project, config.preset) == (tmp_path, "default", "miles")
    assert (config.gate, config.trust, config.command) == (GatePolicy(), "run", ("{python}", "{file}"))
    assert config.store.url == f"sqlite:///{tmp_path}/.driftgate/history.db"
    assert (config.write.events, config.write.branch, config.write.pr_label_writes) == (("schedule",), "main", False)


def test_a_value_of_the_file_is_typed_and_names_its_source(load, tmp_path):
    """Each dotted key knows where it came from."""
    config = load('project = "mine"\n[gate]\nprofile = "balanced"\nhistory = 30\n[timeouts]\ntimeout_per_file = 60')
    assert (config.project, config.gate.profile, config.gate.history) == ("mine", "balanced", 30)
    assert config.timeouts.timeout_per_file == 60.0
    assert config.sources["gate.profile"] == str(tmp_path / "driftgate.toml")
    assert config.sources["suites.stage-a-cpu.backend"] == "preset miles"


def test_option_wins_over_environment_over_file_over_preset(load):
    """Each source overrides the next, one key at a time."""
    text = 'project = "file"\n[store]\njournal = "delete"'
    env = {"DRIFTGATE_PROJECT": "env"}
    assert load(text).project == "file"
    assert load(text, env=env).project == "env"
    config = load(text, env=env, project="option")
    assert (config.project, config.store.journal) == ("option", "delete")
    assert config.sources["project"] == "option project"


def test_an_option_that_is_none_is_not_given(load):
    """The command line passes what it has."""
    assert load('project = "file"', project=None).project == "file"


def test_an_empty_variable_is_absent(load):
    """A CI sets a secret it does not have to the empty string."""
    env = {"DRIFTGATE_DATABASE_URL": "", "NEON_DATABASE_URL": "postgres://n/x", "DRIFTGATE_PROJECT": ""}
    config = load(env=env)
    assert (config.store.url, config.project) == ("postgres://n/x", "default")
    assert config.sources["store.url"] == "environment NEON_DATABASE_URL"


def test_driftgates_own_database_variable_wins_over_neons(load):
    """The more specific name is the one that was meant."""
    env = {"NEON_DATABASE_URL": "postgres://n/x", "DRIFTGATE_DATABASE_URL": "postgres://d/x"}
    assert load(env=env).store.url == "postgres://d/x"


@pytest.mark.parametrize(
    ("url", "resolved"),
    [
        ("sqlite:///h.db", "sqlite:///{base}/h.db"),
        ("sqlite:///a/h.db?timeout=5", "sqlite:///{base}/a/h.db?timeout=5"),
        ("sqlite+pysqlite:///h.db", "sqlite+pysqlite:///{base}/h.db"),
        ("sqlite:////abs/h.db", "sqlite:////abs/h.db"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///file:h.db?uri=true", "sqlite:///file:h.db?uri=true"),
        ("postgresql:///h", "postgresql:///h"),
        ("postgres://u:p%25w@host/db", "postgres://u:p%25w@host/db"),
    ],
)
def test_a_relative_sqlite_path_is_relative_to_the_base(load, tmp_path, url, resolved):
    """The same history from every subfolder; any other URL is left as it is."""
    assert load(store__url=url).store.url == resolved.format(base=tmp_path)


def test_the_nearest_file_up_to_the_repository_root_is_found(load, tmp_path):
    """The root's file serves every folder below, a nearer one wins, one above the root does not count."""
    repository, inner = tmp_path / "repo", tmp_path / "repo/a/b"
    inner.mkdir(parents=True)
    (repository / ".git").mkdir()
    assert load('project = "above"', start=inner).base == repository
    (repository / "driftgate.toml").write_text('project = "root"')
    assert (load(start=inner).project, load(start=inner).base) == ("root", repository)
    (inner.parent / "pyproject.toml").write_text('[tool.driftgate]\nproject = "near"')
    assert (load(start=inner).project, load(start=inner).base) == ("near", inner.parent)


def test_outside_a_repository_only_the_working_folder_counts(load, tmp_path):
    """A stray file in some folder above is nobody's configuration."""
    inner = tmp_path / "inner"
    inner.mkdir()
    config = load('project = "above"', start=inner)
    assert (config.project, config.base) == ("default", inner)


def test_a_pyproject_serves_where_there_is_no_file_of_its_own(load, tmp_path):
    """driftgate.toml beside it wins; a pyproject without the table is passed over."""
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[project]\nname = "x"')
    assert load().sources["preset"] == "default"
    pyproject.write_text('[tool.driftgate]\nproject = "shared"')
    assert load().project == "shared"
    assert load(file=pyproject).project == "shared"
    assert load('project = "own"').project == "own"


def test_a_file_asked_for_is_read_and_is_the_base(load, tmp_path):
    """--config FILE looks nowhere else."""
    other = tmp_path / "other/ci.toml"
    other.parent.mkdir()
    other.write_text('project = "other"')
    config = load('project = "here"', file=other)
    assert (config.project, config.base) == ("other", other.parent)


def test_rows_merge_by_name_and_key(load):
    """One key of one preset row is changed, the rest of the table stays."""
    config = load("""
[suites.stage-c-8-gpu-h100]
runner = ["mine"]
[suites.stage-a-tpu]
backend = "cpu"
[labels]
mine = "My tests"
[cadences.nightly]
crons = ["0  3 * * *"]
[gate.defaults."train/ppo_kl"]
steps = "last"
[gate.defaults."my/metric"]
steps = [1, 2]
constraint = {rel_up = 1, rel_down = 1.0}
""")
    assert config.suites["stage-c-8-gpu-h100"] == Suite(
        "stage-c-8-gpu-h100", "cuda", "hopper", 8, ("mine",), needs=("stage-a-cpu",)
    )
    assert config.suites["stage-a-tpu"] == Suite("stage-a-tpu", "cpu")
    assert (len(config.suites), len(config.labels), config.labels["mine"]) == (7, 21, "My tests")
    assert config.cadences["nightly"].crons == ("0 3 * * *",)
    assert config.cadences["nightly"].writes
    assert config.defaults["train/ppo_kl"].steps == "last"
    assert config.defaults["train/ppo_kl"].constraint["abs_floor_up"] == 0.02
    assert config.defaults["my/metric"].constraint == {"rel_up": 1, "rel_down": 1.0}


def test_preset_none_gives_empty_tables(load):
    """Another framework replaces everything."""
    config = load('preset = "none"\n[labels]\nmine = "My tests"')
    tables = (config.suites, config.cadences, config.defaults, config.roots, config.capture_metrics, config.generations)
    assert not any(tables)
    assert (config.labels, config.gate, config.preset) == ({"mine": "My tests"}, GatePolicy(), "none")


def test_roots_are_folders_or_tables(load):
    """A list is replaced as a whole."""
    config = load(
        """
[discovery]
roots = [
    "tests",
    {path = "fast", pattern = "check_*.py", command = ["sh", "{file}"], forbid = ["cuda"],
     default = {backend = "cpu", suite = "stage-a-cpu", est_time = 2}},
]""".replace(",\n     default", ", default")
    )
    assert config.roots == (
        Root("tests"),
        Root("fast", "check_*.py", ("sh", "{file}"), "cpu", "stage-a-cpu", 2.0, ("cuda",)),
    )


def test_the_scope_of_a_cadence_has_three_forms(load):
    """All, none, or all but some labels."""
    config = load("""
[cadences]
a = {scope = "all"}
b = {scope = "none"}
c = {scope = {all_except = ["long"]}}
d = {}
""")
    scopes = [config.cadences[name].scope for name in "abcd"]
    assert scopes == [Scope("all"), Scope("none"), Scope("all", ("long",)), Scope()]
    assert config.cadences["d"] == Cadence("d")


def test_an_unknown_preset_is_an_error(load):
    """It names the known ones."""
    with pytest.raises(
        ConfigError, match=r"preset: unknown preset 'mils' \(did you mean 'miles'\?\); valid: miles, none"
    ):
        load('preset = "mils"')


def test_relative_start_and_file_are_relative_to_the_working_folder(load, tmp_path, monkeypatch):
    """The base is absolute, whatever was typed."""
    monkeypatch.chdir(tmp_path)
    assert load("", start=Path()).base == tmp_path
    assert load(file=Path("driftgate.toml")).base == tmp_path


def test_the_repository_is_found_from_the_working_folder_then_from_the_file(load, tmp_path):
    """A configuration kept elsewhere does not change what a test is called."""
    tests, elsewhere = tmp_path / "repo/tests", tmp_path / "elsewhere"
    for folder in (tests, elsewhere, tmp_path / "repo/.git", tmp_path / "repo/ci"):
        folder.mkdir(parents=True, exist_ok=True)
    for name in ("repo/ci/driftgate.toml", "elsewhere/driftgate.toml"):
        (tmp_path / name).write_text("")
    assert load(start=tests, file=elsewhere / "driftgate.toml").repository == tmp_path / "repo"
    assert load(start=elsewhere, file=tmp_path / "repo/ci/driftgate.toml").repository == tmp_path / "repo"
    assert load(start=elsewhere).repository == elsewhere
