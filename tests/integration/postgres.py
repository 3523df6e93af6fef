"""A PostgreSQL server of a test's own, which listens on a Unix socket only, and replicas of it.

`postgres.py COMMAND...` runs a command while such a server runs; PINGLOOM_TEST_POSTGRES names the folder of its socket.
"""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")


def serve(case, *roles, address="", inside=None):
    """A folder for the servers of a test case, and a first one, which runs and has a database and these roles."""
    # The path of a Unix socket has to be short.
    folder = tempfile.TemporaryDirectory(prefix="pg-")
    case.addCleanup(folder.cleanup)
    os.chmod(folder.name, 0o711)
    server = started(case, Postgres(pathlib.Path(folder.name) / "a", address, inside).create())
    server.sql("CREATE DATABASE pingloom")
    for role in roles:
        server.sql(f"CREATE ROLE {role} LOGIN")
    return pathlib.Path(folder.name), server


def initialise(case, server, folder, *roles):
    """As an administrator does: tables by their owner, and roles that may use them but not change them."""
    from processes import binary
    config = folder / "owner.yaml"
    config.write_text(f"pinglist: p\nstate_dir: s\nhistory: {{ postgres: {{ hosts: [{server.folder}], user: postgres }} }}\n")
    done = subprocess.run([binary("pingloom-controller"), "--config", config, "--init-history"], capture_output=True, text=True,
                          check=False)
    case.assertEqual(done.returncode, 0, done.stderr)
    server.sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {', '.join(roles)}", "pingloom")


def started(case, server):
    """Starts it, and ends it with the test."""
    case.addCleanup(lambda: server.process.poll() is None and server.kill())
    return server.start()


class Postgres:
    """One server with a cluster of its own in a folder. PostgreSQL refuses to run as root, so it runs as `postgres` then."""

    def __init__(self, folder, address="", inside=None):
        """Listens on a Unix socket in `folder`, and on an IP address with all that may reach it, if one is given. `inside`:
        what its process calls before it is one of another host's."""
        self.folder = pathlib.Path(folder)
        self.address = address
        self._inside = inside
        self.data = self.folder / "data"
        self.process = None

    def _ran(self, program, *arguments):
        return subprocess.run(self._as_user(program, *arguments), capture_output=True, text=True, check=True).stdout

    @staticmethod
    def _as_user(program, *arguments):
        become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        return [*become, str(PROGRAMS / program), *map(str, arguments)]

    def _make_folder(self):
        self.folder.mkdir(parents=True)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)

    def create(self):
        self._make_folder()
        self._ran("initdb", "--pgdata", self.data, "--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8",
                  "--locale=C")
        with open(self.data / "pg_hba.conf", "a", encoding="ascii") as file:
            file.write("host all all all trust\n")
        return self

    def copy_of(self, primary):
        """Makes this one a replica of a server that runs."""
        self._make_folder()
        self._ran("pg_basebackup", "--pgdata", self.data, "--host", primary.folder, "--username=postgres", "--no-sync",
                  "--checkpoint=fast", "--write-recovery-conf", "--wal-method=stream")
        return self

    def start(self):
        """Returns once it answers."""
        log = open(self.folder / "log", "ab")  # the server writes to it as long as it runs
        self.process = subprocess.Popen(
            self._as_user("postgres", "-D", self.data, "-c", f"unix_socket_directories={self.folder}",
                          "-c", f"listen_addresses={self.address}", "-c", "shared_buffers=16MB", "-c", "max_connections=40",
                          # The operating system outlives every test, so what is written need not be on the disk.
                          "-c", "autovacuum_naptime=5s", "-c", "fsync=off"),
            stdout=log, stderr=log, start_new_session=True, preexec_fn=self._inside)
        log.close()
        from processes import eventually
        eventually(lambda: subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.folder], check=False).returncode == 0,
                   30, lambda: "PostgreSQL answers: " + (self.folder / "log").read_text())
        return self

    def sql(self, statement, database="postgres"):
        """The answer's lines, columns separated by |."""
        return subprocess.run([PROGRAMS / "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", self.folder,
                               "-U", "postgres", "-d", database, "-c", statement],
                              capture_output=True, text=True, check=True).stdout.splitlines()

    def promote(self):
        self._ran("pg_ctl", "promote", "-D", self.data, "-s")

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # its sessions are ended
            self.process.wait(30)

    def kill(self):
        """As when the machine loses its power: nothing is written any more."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def main():
    # The path of a Unix socket has to be short.
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        os.chmod(folder, 0o711)
        server = Postgres(pathlib.Path(folder) / "s").create()
        server.start()
        try:
            return subprocess.run(sys.argv[1:], check=False,
                                  env=os.environ | {"PINGLOOM_TEST_POSTGRES": str(server.folder)}).returncode
        finally:
            server.stop()
            shutil.rmtree(server.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
