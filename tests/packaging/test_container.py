"""The image and the composition: linted, pinned, without secrets, and made of commands that work. No Docker is needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from ruamel.yaml import YAML

import driftgate

CHECKOUT = Path(__file__).parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
IMAGE = re.compile(r"[a-z0-9./-]+:(\d+\.\d+(\.\d+)?)(-[a-z0-9-]+)?")
"""A name and a version to the last number."""


def instructions():
    """(keyword, rest) of each instruction of the Dockerfile, lines joined."""
    text = re.sub(r"\\\n\s*", " ", (CHECKOUT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


def stages():
    """The instructions of each stage."""
    found = []
    for keyword, rest in instructions():
        if keyword == "FROM":
            found.append([])
        found[-1].append((keyword, rest))
    return found


def compose():
    return YAML(typ="safe", pure=True).load((CHECKOUT / "compose.yaml").read_text(encoding="utf-8"))


def arguments_of(keyword, of=-1):
    return [rest for name, rest in stages()[of] if name == keyword]


def test_the_dockerfile_passes_its_linter():
    """Every rule of hadolint, warnings and hints too."""
    done = subprocess.run([SCRIPTS / "hadolint", CHECKOUT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_linter_finds_what_it_is_for(tmp_path):
    """Negative control: an image that is not pinned."""
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM python:latest\nRUN pip install driftgate\n")
    done = subprocess.run([SCRIPTS / "hadolint", bad], capture_output=True, text=True, check=False)
    assert "DL3007" in done.stdout


def test_the_composition_is_of_its_schema():
    """The Compose specification's own."""
    command = [SCRIPTS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", CHECKOUT / "compose.yaml"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_every_image_is_pinned():
    """To a version, nothing that moves; the composition's own image is this version's."""
    bases = [rest.split()[0] for keyword, rest in instructions() if keyword == "FROM"]
    services = compose()["services"].values()
    assert all(IMAGE.fullmatch(image) for image in [*bases, *(service["image"] for service in services)])
    assert len(set(bases)) == 1
    own = {service["image"] for service in services if "build" in service}
    assert own == {f"driftgate:{driftgate.__version__}"}


def test_the_image_runs_the_python_that_is_tested():
    """What is shipped is what the tests have seen."""
    base = arguments_of("FROM")[0].split()[0]
    lowest = re.search(r'requires-python = ">=(\d+\.\d+)"', (CHECKOUT / "pyproject.toml").read_text())
    assert base.startswith(f"python:{lowest[1]}.")


def test_it_installs_what_is_pinned_and_nothing_else():
    """pip, with constraints.txt; the final stage installs nothing."""
    (install,) = [rest for rest in arguments_of("RUN", of=0) if "pip install" in rest]
    assert "--constraint constraints.txt ." in install
    assert not [rest for rest in arguments_of("RUN") if "pip" in rest or "apt" in rest]


def test_everything_that_is_built_of_is_copied():
    """Packages and files that the wheel is made of, and no folder beside; the build context lets them in."""
    copied = {word for rest in arguments_of("COPY", of=0) for word in rest.split()[:-1]}
    packages = re.search(r"^packages = (\[.+\])", (CHECKOUT / "pyproject.toml").read_text(), re.MULTILINE)
    assert copied == {
        *json.loads(packages[1]),
        "examples/bandit",
        "pyproject.toml",
        "constraints.txt",
        "README.md",
        "LICENSE",
    }
    let_in = {line[1:] for line in (CHECKOUT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert let_in == copied
    assert (CHECKOUT / ".dockerignore").read_text().startswith("*\n")


def test_nobody_is_root():
    """By number, so that a cluster can hold it to that."""
    (user,) = arguments_of("USER")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    order = [keyword for keyword, _ in stages()[-1]]
    assert order.index("USER") < order.index("ENTRYPOINT")


def test_no_secret_is_in_a_file():
    """Not in the image's environment, and in the composition only by the name of a variable that must be given."""
    settings = " ".join(rest for keyword, rest in instructions() if keyword in ("ENV", "ARG"))
    assert not re.search(r"(?i)password|token|secret|url", settings)
    text = (CHECKOUT / "compose.yaml").read_text()
    secrets = re.findall(r"^ +\w*PASSWORD: (.+)$", text, re.MULTILINE)
    assert len(secrets) == 2
    assert all(secret.startswith("${POSTGRES_PASSWORD:?") for secret in secrets)
    assert not re.search(r"://[^/\s]+:[^/\s@]+@", text)


def test_the_service_waits_for_the_schema():
    """Migration once the database is healthy, the service once that ended well."""
    services = compose()["services"]
    assert services["migrate"]["command"] == ["db", "upgrade"]
    assert services["migrate"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    assert services["service"]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    assert services["db"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert "restart" not in services["migrate"]


def test_only_this_machine_reaches_the_service_and_nobody_the_database():
    """TLS belongs to a proxy in front."""
    services = compose()["services"]
    assert services["service"]["ports"] == ["127.0.0.1:8321:8321"]
    assert all("ports" not in service for name, service in services.items() if name != "service")


def test_the_service_can_change_nothing_in_its_container():
    """A read-only file system, no capabilities."""
    for name in ("service", "migrate"):
        service = compose()["services"][name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


def test_requests_in_flight_are_waited_for():
    """Longer than the service itself waits."""
    from api.serving import GRACE_S

    grace = compose()["services"]["service"]["stop_grace_period"]
    assert int(grace.removesuffix("s")) > GRACE_S
    assert arguments_of("STOPSIGNAL") == ["SIGTERM"]


def test_the_health_check_asks_for_liveness(serve):
    """Its very command, against a service: 0 while it answers, else not; and never a route that asks the database."""
    (check,) = arguments_of("HEALTHCHECK")
    command = json.loads(check.partition("CMD ")[2])
    assert "/healthz" in command[-1]
    service = serve()
    command = [sys.executable, *command[1:-1], command[-1].replace("http://127.0.0.1:8321", service.url)]
    assert subprocess.run(command, check=False).returncode == 0
    service.stop()
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_its_commands_are_commands(from_wheel, tmp_path):
    """As the installed wheel knows them: the migration works; the service starts for nobody before there is a token."""
    (entry,), default = json.loads(arguments_of("ENTRYPOINT")[0]), json.loads(arguments_of("CMD")[0])
    migration = compose()["services"]["migrate"]["command"]
    upgraded = from_wheel.call(entry, *migration, cwd=tmp_path)
    assert upgraded.returncode == 0, upgraded.stderr
    refused = from_wheel.call(entry, *default, cwd=tmp_path)
    assert refused.returncode == 2
    assert "driftgate token create" in refused.stderr
