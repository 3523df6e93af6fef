"""Applications in namespaces of their own for pids and IPC, as in containers, that reach the agent by a socket in a folder
that is mounted read-only: whose a page is is told as well as the agent can see it, and two that it cannot tell apart by
their pids are not mixed up."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from namespaces import or_skip
from pages_case import PagesCase
from processes import binary, children, eventually

CGROUPS = pathlib.Path("/sys/fs/cgroup")
FOREVER_MS = 100_000_000
COUNTS = re.compile(r'^lab_writes_total\{([^}]*)\} (\S+)$', re.M)
LABEL = re.compile(r'(\w+)="([^"]*)"')


def contained(*more):
    """The command before a command that runs it as pid 1 of a pid namespace of its own, and ends it with itself."""
    return ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", *more]


class PagesContainers(PagesCase):
    def setUp(self):
        super().setUp()
        with or_skip():
            subprocess.run([*contained("--mount"), "true"], check=True, capture_output=True)
        self.mounted = self.directory / "mounted"
        self.mounted.mkdir()

    def contained_writer(self, name, identity, pause=1):
        """Sees the agent's socket by a mount of its own."""
        command = [binary("pages_writer"), str(identity), "1", "600", str(pause)]
        inside = (f'mount --bind "{self.directory}" "{self.mounted}" && mount -o remount,bind,ro "{self.mounted}" && '
                  f'! touch "{self.mounted}/written" 2>/dev/null && exec "$0" "$@"')
        return self.run_one(name, *contained("--mount", "--ipc"), "sh", "-c", inside, *command,
                            environment={"PINGLOOM_PAGES_SOCKET": str(self.mounted / self.socket(1).name)})

    def counts(self):
        """Of what is shown: labels of the application's owner, and how far it has counted."""
        rows = [(dict(LABEL.findall(labels)), float(count)) for labels, count in COUNTS.findall(self.get("/metrics"))]
        return {(row["application"], row["pid"], row.get("owner")): count for row, count in rows}

    def start(self, **how):
        self.start_agent(1, **how)
        self.start_collector(agents=[1])
        eventually(self.socket(1).exists, 30, "the agent listens")

    def test_an_agent_that_sees_them_names_their_processes(self):
        self.start()
        runs = {name: self.contained_writer(name, 1000, pause) for name, pause in (("one", 1), ("two", FOREVER_MS))}
        pids = {}
        for name, run in runs.items():
            pids[name] = str(eventually(lambda: children(run.pid, "pages_writer"), 30, f"{name} runs")[0])
        shown = {("writer-1000", pid, None) for pid in pids.values()}
        eventually(lambda: self.counts().keys() == shown, 60, lambda: f"{shown} are shown: {self.counts()}")
        eventually(lambda: self.counts()["writer-1000", pids["one"], None] > 10, 30, "one counts")
        self.assertEqual(self.counts()["writer-1000", pids["two"], None], 1, "the other has counted once")

    def test_an_agent_that_does_not_see_them_tells_them_apart_by_owner(self):
        self.start(prefix=contained())
        self.contained_writer("one", 1000)
        two = self.contained_writer("two", 1000, FOREVER_MS)
        eventually(lambda: len(self.counts()) == 2, 60, lambda: f"both are shown: {self.counts()}")
        eventually(lambda: max(self.counts().values()) > 10, 30, "one counts")
        counts = self.counts()
        self.assertEqual({(application, pid) for application, pid, _ in counts}, {("writer-1000", "0")})
        owners = {owner: count for (_, _, owner), count in counts.items()}
        self.assertNotIn(None, owners)
        still = next(owner for owner, count in owners.items() if count == 1)
        counting = next(owner for owner in owners if owner != still)
        # Who comes later is neither of them, and who goes takes its own series along only.
        two.kill()
        eventually(lambda: ("writer-1000", "0", still) not in self.counts(), 60, "it has gone")
        self.contained_writer("three", 1000, FOREVER_MS)
        eventually(lambda: len(self.counts()) == 2, 60, lambda: f"a third one is shown: {self.counts()}")
        after = self.counts()
        self.assertNotIn(("writer-1000", "0", still), after)
        self.assertGreater(after.pop(("writer-1000", "0", counting)), owners[counting])
        self.assertEqual(list(after.values()), [1])


    def pod(self, uid, container):
        """A cgroup of version 2 for a container in a pod, or None where none can be made."""
        root = next((root for root in (CGROUPS, CGROUPS / "unified") if (root / "cgroup.controllers").exists()), None)
        if root is None:
            return None
        parent = root / f"pingloom-test-{os.getpid()}"
        try:
            for folder in (parent, parent / f"pod{uid}", parent / f"pod{uid}" / container):
                folder.mkdir()
                self.addCleanup(folder.rmdir)
        except OSError:
            return None
        return folder

    def test_an_application_in_a_pod_has_its_labels(self):
        uid, container = "2b1c5a7e-93d0-4f0a-8a54-0c9c3b5f7d21", "9f86d081884c" + "0" * 52
        cgroup = self.pod(uid, container)
        if cgroup is None:
            self.skipTest("no cgroup of version 2 can be made here")
        self.start()
        command = [binary("pages_writer"), "1000", "1", "600", "1"]
        inside = self.run_one("inside", "sh", "-c", f'echo $$ > "{cgroup}/cgroup.procs" && exec "$0" "$@"', *command,
                              environment={"PINGLOOM_PAGES_SOCKET": str(self.socket(1))})
        self.addCleanup(inside.kill)  # first, because a cgroup with processes cannot be removed
        self.contained_writer("outside", 2000)
        rows = {}

        def both():
            rows.update({labels["application"]: labels for labels in
                         (dict(LABEL.findall(found)) for found, _ in COUNTS.findall(self.get("/metrics")))})
            return len(rows) == 2

        eventually(both, 60, lambda: f"both are shown: {rows}")
        self.assertEqual((rows["writer-1000"]["pod_uid"], rows["writer-1000"]["container_id"]), (uid, container[:12]))
        self.assertFalse(rows["writer-2000"].keys() & {"pod_uid", "container_id"})
        pages = [page for agent in json.loads(self.get("/api/v1/pages"))["agents"] for page in agent["pages"]]
        self.assertEqual({(page["application"], page["pod_uid"]) for page in pages if "pod_uid" in page}, {("writer-1000", uid)})


if __name__ == "__main__":
    unittest.main()
