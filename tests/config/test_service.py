"""``[service]``: where it listens, and rules for CI jobs that leave no door open."""

from dataclasses import replace

import pytest

from driftgate.config.effective import settings_of, toml_lines
from driftgate.config.load import load_config
from driftgate.config.service import PROVIDERS, OidcIssuer, OidcRule, ServiceConfig
from gate.errors import ConfigError

CLAIMS = {
    "workflow_ref": "octo/repo/.github/workflows/nightly.yml@refs/heads/main",
    "ref": "refs/heads/main",
    "repository_id": "74",
    "repository_owner_id": "65",
}
HEAD = '[service.oidc.github]\naudience = "https://gate.example"\n'
RULE = "[service.oidc.github.rules.nightly]\n"
WRITE = f'{HEAD}{RULE}scope = "write"\n'


def claims(**changed):
    """The table of claims, those that are None left out."""
    rows = {name: value for name, value in {**CLAIMS, **changed}.items() if value is not None}
    return "[service.oidc.github.rules.nightly.claims]\n" + "\n".join(f'{name} = "{v}"' for name, v in rows.items())


@pytest.fixture
def load(tmp_path):
    def load(text):
        (tmp_path / "driftgate.toml").write_text(text)
        return load_config(file=None, start=tmp_path, env={}, options={})

    return load


def complaint(load, text):
    with pytest.raises(ConfigError) as caught:
        load(text)
    return str(caught.value)


def test_without_a_table_it_listens_here_and_believes_no_token(load):
    """Nothing is open by itself."""
    assert load("").service == ServiceConfig("127.0.0.1", 8321, (), (), {})


def test_a_whole_table(load):
    """Each key arrives, the rule with its claims; of a write rule the schedule alone is the event."""
    text = '[service]\nhost = "0.0.0.0"\nport = 80\nallowed_hosts = ["gate.example"]\nproxies = ["10.0.0.0/8"]\n'
    config = load(f'{text}{WRITE}cadence = "nightly"\nproject = "p"\n{claims()}')
    rule = OidcRule("nightly", "write", "p", "nightly", None, CLAIMS)
    issuer = OidcIssuer("github", "https://gate.example", rules={"nightly": rule})
    assert config.service == ServiceConfig("0.0.0.0", 80, ("gate.example",), ("10.0.0.0/8",), {"github": issuer})  # noqa: S104 - a value to read
    assert rule.allowed_events == ("schedule",)
    assert OidcRule("pr").allowed_events is None
    assert issuer.keys_url == "https://token.actions.githubusercontent.com/.well-known/jwks"


def test_it_is_written_out_as_it_is_read(load):
    """``config show`` loses nothing."""
    config = load(f'{WRITE}events = ["schedule", "push"]\n{claims()}')
    written = "\n".join(toml_lines(settings_of(config)))
    assert replace(load(written), sources={}) == replace(config, sources={})


def test_another_installation_has_its_keys_below_its_issuer(load):
    """Unless the keys' address is given."""
    text = HEAD + 'issuer = "https://ghes.example/_services/token"\n'
    assert load(text).service.oidc["github"].keys_url == "https://ghes.example/_services/token/.well-known/jwks"
    text += 'jwks_url = "https://keys.example/jwks"\n'
    assert load(text).service.oidc["github"].keys_url == "https://keys.example/jwks"


def test_gitlab_has_the_same_rules_by_its_own_names(load):
    """A write rule pins what GitLab's tokens hold; flags and numbers are written as the token has them."""
    text = """
        [service.oidc.gitlab]
        provider = "gitlab"
        audience = "https://gate.example"
        [service.oidc.gitlab.rules.nightly]
        scope = "write"
        [service.oidc.gitlab.rules.nightly.claims]
        ci_config_ref_uri = "gitlab.com/octo/repo//.gitlab-ci.yml@refs/heads/main"
        ref_path = "refs/heads/main"
        ref_protected = true
        project_id = 22
        namespace_id = 72
    """
    rule = load(text).service.oidc["gitlab"].rules["nightly"]
    assert (rule.claims["ref_protected"], rule.claims["project_id"]) == ("true", "22")
    assert "needs claims.ref_protected" in complaint(load, text.replace("ref_protected = true", ""))


@pytest.mark.parametrize("claim", PROVIDERS["github"].write_claims)
def test_a_write_rule_that_lacks_a_claim_is_refused(load, claim):
    """Each of them keeps somebody out."""
    message = complaint(load, WRITE + claims(**{claim: None}))
    assert f"service.oidc.github.rules.nightly: writes, so it needs claims.{claim}; see" in message


@pytest.mark.parametrize(
    "event",
    [
        "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "workflow_run",
        "issue_comment", "issues", "discussion", "fork", "watch", "merge_group", "release", "Schedule", "*",
    ],
)  # fmt: skip
def test_events_that_may_bring_foreign_code_never_write(load, event):
    """Not even where the configuration asks for it."""
    message = complaint(load, f'{WRITE}events = ["schedule", "{event}"]\n{claims()}')
    assert f"nightly.events: '{event}' may not write" in message
    assert message.endswith("valid: schedule, push, workflow_dispatch")


READ = f"{HEAD}{RULE}"
MISTAKES = [
    ('[service]\nhost = "http://a"', "service.host: found 'http://a', expected a host name or an address"),
    ('[service]\nhost = "a:80"', "service.host: found 'a:80', expected a host name"),
    ("[service]\nport = 65536", "service.port: found 65536, expected an integer from 0 to 65535"),
    ('[service]\nallowed_hosts = ["a/b"]', "service.allowed_hosts: found 'a/b', expected a host name"),
    ('[service]\nproxies = ["proxy"]', "service.proxies: found 'proxy', expected addresses or ranges"),
    ("[service.oidc.github]", "service.oidc.github: needs audience"),
    (HEAD + 'provider = "githob"', "provider: found 'githob' (did you mean 'github'?), expected one of github, gitlab"),
    (HEAD + 'issuer = "http://a"', "issuer: found 'http://a', expected an address that begins with https://"),
    (HEAD + 'issuer = "https://u:p@a"', "expected an address that begins with https://"),
    (HEAD + 'issuer = "https://a:b"', "expected an address that begins with https://"),
    (HEAD + 'jwks_url = "file:///etc/passwd"', "jwks_url: found 'file:///etc/passwd', expected an address"),
    (HEAD + 'jwks_url = "https://a/?x=1"', "expected an address that begins with https://"),
    (HEAD + HEAD.replace("github", "other"), "https://token.actions.githubusercontent.com is the issuer of more than"),
    (READ, "nightly: would hold for everybody's jobs; give claims.repository_id or claims.repository_owner_id"),
    (READ + claims().replace("repository", "repo"), "nightly: would hold for everybody's jobs"),
    (READ + 'scope = "operate"', "scope: found 'operate', expected one of read, write"),
    (READ + "events = []\n" + claims(), "nightly.events: holds for no event"),
    (READ + 'cadence = "nightly"\n' + claims(), "nightly.cadence: says what is written; this rule only reads"),
    (WRITE + 'cadence = "nightli"\n' + claims(), "nightly.cadence: unknown 'nightli' (did you mean 'nightly'?)"),
    (WRITE + 'cadence = "regular"\n' + claims(), "cadence: regular does not write; see cadences.regular.writes"),
    (WRITE + claims(sub="repo:octo/repo:ref:refs/heads/main"), "claims.sub: is put together from names"),
    (WRITE + claims(ref="refs/heads/*"), "claims.ref: found 'refs/heads/*', expected the whole value"),
    (WRITE + claims(repository_id="octo/repo"), "claims.repository_id: found 'octo/repo', expected the number"),
    (WRITE + claims(repository_id="²"), "claims.repository_id: found '²', expected the number"),
    (WRITE + claims(event_name="schedule"), "claims.event_name: belongs into events"),
]


@pytest.mark.parametrize(("text", "words"), MISTAKES, ids=[text for text, _ in MISTAKES])
def test_each_mistake_names_the_key(load, text, words):
    """What was found, and what closes the door."""
    message = complaint(load, text)
    assert words in message
    assert all("driftgate.toml" in line or line.startswith("service.oidc") for line in message.splitlines())
