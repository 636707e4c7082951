"""``driftgate config show``: what holds, and why."""

import tomllib

import pytest

TELLING_URL = "postgresql://ci:s3cret@db.example.net/history?password=s3cret&sslmode=require"


def test_everything_with_its_source(person):
    """A document that can be read, from the file in use."""
    file = person.write("driftgate.toml", '[gate]\nprofile = "balanced"\n')
    out = person.call("config", "show").out
    assert out.startswith(f"# file: {file}\n")
    assert f'profile = "balanced"  # {file}\n' in out
    assert tomllib.loads(out)["cadences"]["nightly"]["writes"] is True


def test_without_a_file(person):
    """It is said that there is none."""
    assert person.call("config", "show").out.startswith("# file: none")
    assert person.json("config", "show")["file"] is None


@pytest.mark.parametrize("arguments", [(), ("store",), ("store.url",), ("--json",)])
@pytest.mark.parametrize("how", ["environment", "option"])
def test_no_password_is_shown(person, clean, how, arguments):
    """Neither the URL's own nor one among its parameters; host and user stay readable."""
    if how == "environment":
        clean.setenv("DRIFTGATE_DATABASE_URL", TELLING_URL)
        clean.setenv("DRIFTGATE_MIGRATION_URL", TELLING_URL)
    answer = person.call("config", "show", *arguments, *(("--db", TELLING_URL) if how == "option" else ()))
    assert answer.code == 0
    assert "s3cret" not in answer.out + answer.err
    assert "ci:***@db.example.net/history" in answer.out


@pytest.mark.parametrize("url", ["postgresql://ci:s3cret@[broken/x", "://s3cret", "mysql://u:s3cret@h/x"])
def test_a_url_that_cannot_be_used_is_hidden_too(person, url):
    """The listing never fails for it: it is what a person looks at when something is wrong."""
    answer = person.call("config", "show", "store.url", "--db", url)
    assert (answer.code, "s3cret" in answer.out + answer.err) == (0, False)


def test_one_key_or_table(person):
    """For a script: the value with its source; only what was asked for."""
    (value,) = person.json("config", "show", "suites.stage-c-8-gpu-h100.gpus")["values"]
    assert value == {"key": "suites.stage-c-8-gpu-h100.gpus", "value": 8, "source": "preset miles"}
    assert set(tomllib.loads(person.call("config", "show", "write").out)) == {"write"}
    assert person.json("config", "show", 'gate.defaults."train/ppo_kl".steps')["values"][0]["value"] == "all"


def test_a_known_key_without_a_value(person):
    """Said, and no error."""
    answer = person.call("config", "show", "store.migration_url")
    assert (answer.code, answer.out, answer.lines) == (0, "", ["store.migration_url is not set"])


def test_an_unknown_key(person):
    """One line that names the nearest one."""
    answer = person.call("config", "show", "store.ulr")
    assert (answer.code, len(answer.lines), "store.url" in answer.err) == (2, 1, True)
