"""A controller whose history is in PostgreSQL: whatever is killed, each closed window is there once."""

import datetime
import unittest

import history
from mesh import Mesh
from postgres import Postgres, initialise, serve, started
from processes import eventually


class InPostgres(unittest.TestCase):
    def setUp(self):
        self.folder, self.server = serve(self, "pingloom")

    def mesh(self, servers=None, **options):
        mesh = Mesh(self, hosts=2, interval="100ms", window="1s", **options)
        hosts = ", ".join(str(server.folder) for server in servers or [self.server])
        mesh.controller_options["history"] = f"{{ postgres: {{ hosts: [{hosts}] }} }}"
        mesh.postgres = self.server
        return mesh

    def initialise(self, mesh):
        initialise(self, self.server, mesh.directory, "pingloom")

    def check_history(self, mesh):
        for source in mesh.addresses:
            history.assert_contiguous(self, mesh, "udp", source, 10)

    def newest(self, mesh):
        """The end of the newest window that the live view shows."""
        return max(row["end"] for row in mesh.rows("udp").values())

    def spooled(self, mesh, batches=3):
        eventually(lambda: all(mesh.agent_metrics(index)["pingloom_agent_spool_batches"] >= batches for index in mesh.agents),
                   60, "agents spool")

    def test_windows_are_kept_and_shown_and_survive_kills(self):
        mesh = self.mesh()
        self.initialise(mesh)
        mesh.start()
        mesh.wait_for_rows("udp", state="ok")
        mesh.controller.kill()
        self.spooled(mesh)
        mesh.start_controller()
        eventually(lambda: mesh.delivered(), 40, "the spools are delivered to the next controller")
        self.server.kill()
        before = self.newest(mesh)
        self.spooled(mesh)
        # A busy machine may lose a ping in one of the windows.
        eventually(lambda: self.newest(mesh) > before and set(mesh.states("udp").values()) == {"ok"}, 30,
                   lambda: f"the live view goes on: {before}, {mesh.rows('udp')}")
        self.server.start()
        eventually(lambda: mesh.delivered(), 60, "the spools are delivered to the next server")
        self.check_history(mesh)
        # The agents registered in the first window; the second one was whole before the first kill.
        inside = history.windows(mesh, "udp", mesh.addresses[0])[1].start_ns // 10**9 + 1
        past = mesh.states("udp", at=datetime.datetime.fromtimestamp(inside, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        self.assertEqual(past[mesh.addresses[0], mesh.addresses[1]], "ok", "the past is shown")
        self.assertFalse((mesh.directory / "controller" / "history.sqlite").exists())

    def test_a_promoted_replica_takes_over(self):
        mesh = self.mesh()
        self.initialise(mesh)
        self.server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        replica = started(self, Postgres(self.folder / "b").copy_of(self.server))
        self.server.sql("SELECT pg_reload_conf()")
        hosts = f"{self.server.folder}, {replica.folder}"
        mesh.controller_options["history"] = f"{{ postgres: {{ hosts: [{hosts}] }} }}"
        mesh.start()
        mesh.wait_for_rows("udp", state="ok")
        eventually(lambda: len(history.windows(mesh, "udp", mesh.addresses[0])) >= 3, 40, "windows are committed")
        self.server.kill()
        self.spooled(mesh, 2)
        replica.promote()
        replica.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
        replica.sql("SELECT pg_reload_conf()")
        mesh.postgres = replica
        eventually(lambda: mesh.delivered(), 60, "the spools are delivered to the replica")
        before = len(history.windows(mesh, "udp", mesh.addresses[0]))
        eventually(lambda: len(history.windows(mesh, "udp", mesh.addresses[0])) > before, 40, "and it goes on")
        self.check_history(mesh)

    def refused(self, mesh, *reasons):
        mesh.start_controller(wait=False)
        eventually(lambda: not mesh.controller.running(), 30, "the controller ends")
        for reason in reasons:
            self.assertIn(reason, mesh.controller.tail())

    def test_what_cannot_be_used_is_refused_by_name(self):
        mesh = self.mesh()
        self.refused(mesh, "postgresql://pingloom@", "--init-history")
        self.initialise(mesh)
        self.initialise(mesh)  # changes nothing
        mesh.start_controller()
        other = self.mesh()
        self.refused(other, "another controller writes this history")
        mesh.controller.stop()
        self.server.sql("UPDATE pingloom_history SET version = 99", "pingloom")
        self.refused(mesh, "format 99")
        self.server.sql("DROP TABLE pingloom_history", "pingloom")
        self.refused(mesh, "no database of pingloom's")
        wrong = self.mesh()
        wrong.controller_options["history"] = f"{{ postgres: {{ hosts: [{self.server.folder}], user: nobody }} }}"
        self.refused(wrong, 'role "nobody" does not exist')
        self.server.stop()
        self.refused(self.mesh(), "postgresql://pingloom@", "server")


if __name__ == "__main__":
    unittest.main()
