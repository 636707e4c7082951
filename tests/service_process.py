"""`driftgate serve` as a real process. Loaded by ``conftest.py`` under the name ``service_process``."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import httpx2

from store.opening import open_database
from store.tokens import NewToken

HURRIED = "import sys, api.serving; api.serving.GRACE_S = 1; from driftgate.cli.main import main; main()"
"""The command line, but for a service that waits only a second for requests in flight."""
STOPPED_AT_ONCE = """\
import signal, sys, uvicorn.server
from driftgate.cli.main import main

number, begin = int(sys.argv.pop(1)), uvicorn.server.asyncio_run

def begin_late(serving, **options):
    signal.raise_signal(number)
    begin(serving, **options)

uvicorn.server.asyncio_run = begin_late
main()
"""
"""The command line, but the service gets a signal just before its server has begun to listen to any."""
CLEARED = ("GITHUB_", "GITLAB_", "CI", "DRIFTGATE_", "NEON_DATABASE_URL")


class ServiceProcess:
    """A service on a free port of this machine, over the database ``db`` or the default one of ``folder``."""

    def __init__(
        self, folder: Path, *options: str, db: str | None = None, program: Sequence[str] = ("-m", "driftgate")
    ):
        self.log_path = folder / f"serve-{id(self)}.log"
        command = [sys.executable, *program, "serve", "--port", "0", "--json", *options]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(CLEARED)}
        environment |= {} if db is None else {"DRIFTGATE_DATABASE_URL": db}
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log)
        self.db = db or f"sqlite:///{folder}/.driftgate/history.db"
        line = self.process.stdout.readline()
        assert line, self.log_path.read_text()
        self.announced = json.loads(line)
        self.url = self.announced["url"]
        self.address = ("127.0.0.1", int(self.url.rpartition(":")[2]))

    def client(self, scope: str | None = None, project: str = "default") -> httpx2.Client:
        """A client, with a token of that scope where one is named; the caller closes it."""
        headers = {} if scope is None else {"Authorization": f"Bearer {self.token(scope, project)}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    def token(self, scope: str, project: str = "default") -> str:
        """A new one; what it writes may be trusted."""
        with open_database(self.db) as store:
            new = NewToken(project, f"{scope}-job", scope, timedelta(hours=1), may_trust=scope == "write")
            return store.tokens.create(new)[1]

    def log(self) -> list[dict]:
        """Its lines so far."""
        return [json.loads(line) for line in self.log_path.read_text().splitlines() if line.startswith("{")]

    def accepts(self) -> bool:
        """Whether a new connection comes about."""
        with suppress(OSError), socket.create_connection(self.address, timeout=5):
            return True
        return False

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal and wait; the exit code."""
        self.process.send_signal(how)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(60)
        self.process.stdout.close()
        return code

    def kill(self) -> None:
        """At the end of a test, whatever became of it."""
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
