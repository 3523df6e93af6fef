"""Parts of install.sh by themselves, with folders of the test's own in place of the host's. Needs no root and changes nothing."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
# install.sh's own settings, and the programs that a part would ask about this host.
SETTINGS = """
set -euo pipefail
here={scripts} record={folder}/installer config_dir={folder}/etc state_dir={folder} unit_dir={folder}/units prefix={folder}/usr
controller='' with_controller='' with_collector='' with_agent=yes roles_given='' pinglist='' address='' device=auto given=()
uninstall='' purge='' dry='' checkout='' tree='' mode=tree work={folder}/work
"""


class Parts(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pingloom-parts-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        for name in ("installer", "etc", "work"):
            (self.folder / name).mkdir()

    def shell(self, parts, text, check=True):
        """What `text` prints, after the parts."""
        lines = [SETTINGS.format(scripts=SCRIPTS, folder=self.folder)]
        lines += [f". {SCRIPTS}/install/{part}.sh" for part in parts.split()]
        done = subprocess.run(["bash", "-c", "\n".join([*lines, text])], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


class Roles(Parts):
    CHOSEN = 'dpkg-query() { false; }; choose_roles; echo "roles: ${roles[*]}"'

    def test_a_fresh_host_gets_an_agent(self):
        self.assertEqual(self.shell("steps roles", self.CHOSEN), "roles: agent\n")

    def test_without_a_word_it_is_what_is_installed(self):
        for role in ("controller", "collector"):
            (self.folder / "installer" / f"manifest.{role}").touch()
        shown = self.shell("steps roles", self.CHOSEN)
        self.assertIn("as installed on this host: controller collector\n", shown)
        self.assertIn("roles: controller collector\n", shown)

    def test_packages_count(self):
        packages = 'dpkg-query() { case ${*: -1} in pingloom-controller) echo installed ;; *) echo config-files ;; esac; }; choose_roles; echo "${roles[*]}"'
        self.assertTrue(self.shell("steps roles", packages).endswith("\ncontroller\n"))

    def test_what_is_left_out_is_said(self):
        (self.folder / "installer/manifest.controller").touch()
        shown = self.shell("steps roles", "roles_given=yes with_collector=yes; " + self.CHOSEN)
        self.assertIn("pingloom-controller is installed too and stays at its version", shown)
        self.assertIn("roles: agent collector\n", shown)


class Packages(Parts):
    def program(self, name, text):
        """Another program of that name."""
        file = self.folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/bash\n{text}\n")
        file.chmod(0o755)

    def packages(self, text):
        return self.shell("steps packages", f"PATH={self.folder}/bin:$PATH; package_manager() {{ echo apt; }}\n{text}")

    def test_a_library_that_the_release_has_under_another_name_is_left_out(self):
        self.program("apt-get", "true")
        self.program("apt-cache", '[[ " $* " != *" libnone1 "* && " $* " != *" none-tools "* ]]')
        shown = self.packages('missing=(libhere2 libnone1 none-tools); leave_out_unknown; echo "${missing[*]}"')
        self.assertIn("libnone1 is not of this release", shown)
        self.assertTrue(shown.endswith("\nlibhere2 none-tools\n"), shown)

    def test_old_lists_are_updated_and_the_installation_tried_again(self):
        self.program("apt-cache", "true")
        self.program("apt-get", f'echo "$*" >>{self.folder}/calls; [[ $* == *update* ]] && touch {self.folder}/new; [ -e {self.folder}/new ]')
        self.packages("install_debian redis-server")
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertEqual(["update" in call for call in calls], [False, True, False])

    def test_a_redis_that_somebody_uses_stays_with_what_it_needs(self):
        self.program("apt-cache", "printf 'redis-server\\n  Depends: redis-tools\\nredis-tools\\nliblzf1\\n'")
        purge = 'recorded=(liblzf1 libzmq5 redis-server redis-tools); keep_redis; echo "${recorded[*]}"'
        self.program("systemctl", "true")
        shown = self.packages(purge)
        self.assertIn("redis-server stays", shown)
        self.assertTrue(shown.endswith("\nlibzmq5\n"), shown)
        self.program("systemctl", "false")
        self.assertEqual(self.packages(purge), "liblzf1 libzmq5 redis-server redis-tools\n")


if __name__ == "__main__":
    unittest.main()
