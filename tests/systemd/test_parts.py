"""Tests parts of install.sh alone, on folders of the test instead of the host's. Needs no root and changes nothing on the host."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
# These are install.sh's own settings, with folders of the test.
SETTINGS = """
set -euo pipefail
here={scripts} record={folder}/installer config_dir={folder}/etc state_dir={folder} unit_dir={folder}/units prefix={folder}/usr
controller='' controllers='' with_controller='' with_collector='' with_translator='' stores_at='' with_agent=yes roles_given='' pinglist='' address='' device=auto given=()
join='' insecure='' roles=() uninstall='' purge='' dry='' checkout='' tree='' mode=tree work={folder}/work
"""


class Parts(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pingloom-parts-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        for name in ("installer", "etc", "work"):
            (self.folder / name).mkdir()

    def shell(self, parts, text, check=True):
        """Returns what `text` prints after the parts are loaded."""
        lines = [SETTINGS.format(scripts=SCRIPTS, folder=self.folder)]
        lines += [f". {SCRIPTS}/install/{part}.sh" for part in parts.split()]
        # SIGPIPE stays ignored, as under a service manager.
        done = subprocess.run(["bash", "-c", "\n".join([*lines, text])], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, restore_signals=False)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


class Roles(Parts):
    CHOSEN = 'dpkg-query() { false; }; choose_roles; echo "roles: ${roles[*]}"'

    def test_a_fresh_host_gets_an_agent(self):
        self.assertEqual(self.shell("steps roles", self.CHOSEN), "roles: agent\n")

    def test_without_a_word_it_is_what_is_installed(self):
        for role in ("controller", "collector", "translator"):
            (self.folder / "installer" / f"manifest.{role}").touch()
        shown = self.shell("steps roles", self.CHOSEN)
        self.assertIn("as installed on this host: controller collector translator\n", shown)
        self.assertIn("roles: controller collector translator\n", shown)

    def test_packages_count(self):
        packages = 'dpkg-query() { case ${*: -1} in pingloom-controller) echo installed ;; *) echo config-files ;; esac; }; choose_roles; echo "${roles[*]}"'
        self.assertTrue(self.shell("steps roles", packages).endswith("\ncontroller\n"))

    def test_what_is_left_out_is_said(self):
        (self.folder / "installer/manifest.controller").touch()
        shown = self.shell("steps roles", "roles_given=yes with_collector=yes; " + self.CHOSEN)
        self.assertIn("pingloom-controller is installed too and stays at its version", shown)
        self.assertIn("roles: agent collector\n", shown)


class Keys(Parts):
    LOADED = "steps checks kept config keys shared"

    def test_a_new_host_says_how_it_is_let_in(self):
        token = "pingloom-join-" + "0" * 144
        for settings, said in (("controller=10.0.0.1", "a new host needs a token"), ("controller=127.0.0.1:20711", ""), ("controller='[::1]'", ""),
                               (f"controller=10.0.0.1 join={token}", ""), ("controller=10.0.0.1 insecure=yes", ""), ("with_controller=yes", "")):
            shown = self.shell(self.LOADED, f"roles=(agent); {settings}; check_key_options; check_how_to_join && echo passed", check=False)
            self.assertEqual((said in shown, "passed" in shown), (True, said == ""), f"{settings}: {shown}")
        (self.folder / "etc/agent.yaml").touch()
        self.assertEqual(self.shell(self.LOADED, "roles=(agent); controller=10.0.0.1; check_how_to_join && echo passed"), "passed\n")

    def test_options_that_exclude_each_other(self):
        token = "pingloom-join-" + "0" * 144
        for settings, said in ((f"join={token} insecure=yes", "exclude each other"), (f"join={token} with_controller=yes", "a copy of another controller's /etc/pingloom"),
                               (f"join={token}0", "takes a whole token"), ("join=x", "takes a whole token")):
            self.assertIn(said, self.shell(self.LOADED, f"{settings}; check_key_options", check=False))
        (self.folder / "token").write_text(token)
        self.shell(self.LOADED, f"join={self.folder}/token; check_key_options")

    def test_a_controller_without_keys_goes_on_as_it_was(self):
        config = self.folder / "etc/controller.yaml"
        for text, added in (("pinglist: p\n", True), ("control: 0.0.0.0:20711\n", True), ("control: 127.0.0.1:20711\n", False),
                            ("control: '[::1]:20711'\n", False), ("keys: { secret: s, authorized: a }\n", False), ("insecure: true\n", False),
                            ("# keys: { secret: s }\n", True)):
            config.write_text(text)
            shown = self.shell(self.LOADED, "keep_without_keys; keep_without_keys")
            self.assertEqual(config.read_text().count("\ninsecure: true\n"), int(added), f"{text}: {shown}")
            self.assertEqual("this controller has no keys" in shown, added)
            self.assertTrue(config.read_text().startswith(text))
            (self.folder / "work/config-before.controller").unlink(missing_ok=True)

    def test_a_rollback_takes_back_what_was_added(self):
        config = self.folder / "etc/controller.yaml"
        config.write_text("pinglist: p\n")
        config.chmod(0o640)
        self.shell(self.LOADED, "keep_without_keys; [ -n \"$config_changed\" ]; take_back_config controller; take_back_config agent")
        self.assertEqual((config.read_text(), config.stat().st_mode & 0o777), ("pinglist: p\n", 0o640))

    def test_a_join_adds_the_line_that_the_program_prints(self):
        program = self.folder / "usr/bin/pingloom"
        program.parent.mkdir(parents=True)
        config = self.folder / "etc/agent.yaml"
        join = f"chown() {{ echo \"chown $*\"; }}; join=x controller=10.0.0.1; join_role agent; echo \"waits: $waits_for_approval $config_changed\""
        for code, waits in ((0, ""), (3, "yes")):
            config.write_text("controller: 10.0.0.1\n")
            program.write_text(f"#!/bin/sh\necho told >&2; echo 'keys: {{ secret: s }}'; exit {code}\n")
            program.chmod(0o755)
            shown = self.shell(self.LOADED, join)
            self.assertIn(f"waits: {waits} yes\n", shown)
            self.assertIn("    told\n", shown)
            self.assertEqual(config.read_text(), "controller: 10.0.0.1\n\nkeys: { secret: s }\n")
        # It is done already: a token that has ended since is no harm.
        program.write_text("#!/bin/sh\necho refused >&2; exit 1\n")
        self.assertIn("--join has no effect", self.shell(self.LOADED, join))
        config.write_text("controller: 10.0.0.1\n")
        self.assertIn("this host's agent could not join", self.shell(self.LOADED, join, check=False))
        self.assertEqual(config.read_text(), "controller: 10.0.0.1\n")

    def test_a_collector_that_joins_gets_the_key_of_this_hosts_agent(self):
        program = self.folder / "usr/bin/pingloom"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho 'keys: { secret: s }'\n")
        program.chmod(0o755)
        config = self.folder / "etc/collector.yaml"
        (self.folder / "etc/keys").mkdir()
        (self.folder / "etc/keys/agent.key.pub").write_text("PUBLIC\n")
        join = "chown() { :; }; join=x controller=10.0.0.1 device=soft; collector_config <<<'agents: [a]'; join_role collector"
        config.write_text("address: 127.0.0.2\n")
        self.assertNotIn("agents:", self.shell(self.LOADED, join), "it is written with its key")
        self.assertEqual(config.read_text(), "address: 127.0.0.2\n\nkeys: { secret: s }\n"
                                             'agents: [{ agent: "127.0.0.1", key: "PUBLIC" }]\n')

    def test_the_line_for_other_hosts_has_the_soft_device_where_this_host_has_it(self):
        program = self.folder / "usr/bin/pingloom"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho TOKEN\n")
        program.chmod(0o755)
        for keys, more, line in (("keys: { secret: s, authorized: a }", "first_keys=yes", "./install.sh --controller 10.0.0.1 --join TOKEN"),
                                 ("insecure: true", "", "./install.sh --controller 10.0.0.1 --insecure")):
            (self.folder / "etc/controller.yaml").write_text(keys + "\n")
            for device, end in (("auto", ""), ("soft", " --device soft"), ("mlx5_0", "")):
                shown = self.shell(self.LOADED, f"own_address() {{ echo 10.0.0.1; }}; device={device} {more}; tell_other_hosts")
                self.assertRegex(shown, f"(?m)(^|: ){line}{end}$")


class Prefix(Parts):
    def test_one_that_services_cannot_see_is_refused(self):
        for prefix, seen in (("/usr/local", True), ("/opt/home", True), ("/home/me/p", False), ("/root", False), ("/opt/../tmp/p", False), ("/var/tmp/p", False)):
            shown = self.shell("steps checks", f"prefix={prefix}; check_prefix", check=False)
            self.assertEqual("the services see no files below" not in shown, seen, prefix)


class Address(Parts):
    NONE = "ip() { return 2; }; hostname() { :; }\n"
    ONE = 'ip() { return 2; }; hostname() { echo "10.0.0.5 fd00::5"; }\n'

    def checked(self, text):
        others = "for check in system rdma ports time other_install controller; do eval \"check_$check() { :; }\"; done\n"
        return self.shell("steps checks config kept shared", f'{others}{text}\ncheck_host && echo "passed: $address"', check=False)

    def test_a_host_without_one_fails_before_anything_is_changed(self):
        for roles in ("with_controller=yes", "with_collector=yes", "with_translator=yes"):
            shown = self.checked(f"{self.NONE}{roles}")
            self.assertIn("FAILS    this host has no address; --address ADDR names one", shown)
            self.assertIn("nothing was changed", shown)
            self.assertNotIn("passed", shown)

    def test_it_is_the_option_or_the_host_s_first(self):
        self.assertIn("passed: 10.0.0.5\n", self.checked(f"{self.ONE}with_controller=yes"))
        self.assertIn("passed: 10.0.0.7\n", self.checked(f"{self.NONE}with_controller=yes address=10.0.0.7"))

    def test_one_that_the_host_does_not_have_is_refused(self):
        has = 'ip() { echo "2: eth0    inet 10.0.0.5/24 scope global eth0"; }\n'
        given = "with_controller=yes given=(--address)"
        self.assertIn("FAILS    --address 10.0.0.6 is no address of this host", self.checked(f"{has}{given} address=10.0.0.6"))
        self.assertIn("passed: 10.0.0.5\n", self.checked(f"{has}{given} address=10.0.0.5"))

    def test_that_of_an_rdma_device_is_preferred(self):
        both = f"rdma_address() {{ echo 10.1.0.5; }}\n{self.ONE}with_controller=yes"
        self.assertIn("passed: 10.1.0.5\n", self.checked(both))
        self.assertIn("passed: 10.0.0.5\n", self.checked(f"{both} device=soft"))

    def test_the_controllers_port_is_one(self):
        for controller, wrong in (("10.0.0.9", False), ("10.0.0.9:20711", False), ("[fd00::1]", False), ("[fd00::1]:1", False),
                                  ("10.0.0.9:70000", True), ("10.0.0.9:0", True), ("[fd00::1]:x", True)):
            shown = self.checked(f"controller={controller}")
            self.assertEqual("the port is not a number 1..65535" in shown, wrong, controller)

    def test_a_missing_key_of_a_kept_configuration_is_found(self):
        (self.folder / "etc/agent.yaml").write_text("controller: a\nkeys: { secret: keys/agent.key, controller: x }\n")
        self.assertIn("keys/agent.key, which does not exist", self.checked("roles=(agent)"))
        (self.folder / "etc/keys").mkdir()
        (self.folder / "etc/keys/agent.key").touch()
        self.assertIn("passed", self.checked("roles=(agent)"))

    def test_a_wrong_pinglist_is_refused_where_a_program_can_tell(self):
        program = self.folder / "tree/cli/bin/pingloom"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n[ $1 = --version ] || { echo 'p.yaml:1:1: bad'; exit 1; }\n")
        program.chmod(0o755)
        shown = self.checked(f"tree={self.folder}/tree pinglist=/etc/hostname")
        self.assertIn("p.yaml:1:1: bad", shown)
        self.assertIn("nothing was changed", shown)
        self.assertIn("passed", self.checked("pinglist=/etc/hostname"))

    def test_without_a_file_that_names_it_none_is_needed(self):
        self.assertIn("passed: \n", self.checked(self.NONE))
        self.assertIn("passed: \n", self.checked(f"{self.NONE}with_controller=yes pinglist=/etc/hostname"))
        for name in ("pinglist.yaml", "collector.yaml"):
            (self.folder / "etc" / name).touch()
        self.assertIn("passed: \n", self.checked(f"{self.NONE}with_controller=yes with_collector=yes"))


class SeveralControllers(Parts):
    LOADED = "steps checks kept config keys shared"
    OTHER = """pinglist: /etc/pingloom/pinglist.yaml
control: 0.0.0.0:20799
keys: { secret: keys/controller.key, authorized: FOLDER/state/authorized_keys.yaml }
history: { postgres: { hosts: [db], password_file: postgres.password } }
cluster:
  name: controller-1
  address: 10.0.0.1:20799
log_level: info
"""
    HOST = "with_controller=yes join={folder}/copy; hostname() {{ echo controller-2; }}; own_address() {{ echo 10.0.0.2; }}; chown() {{ :; }}\n"

    def setUp(self):
        super().setUp()
        copy = self.folder / "copy"
        (copy / "keys").mkdir(parents=True)
        for name, text in (("controller.yaml", self.OTHER.replace("FOLDER", str(self.folder))), ("pinglist.yaml", "version: 1\n"),
                           ("agent.yaml", "controller: a\n"), ("keys/controller.key", "secret"), ("keys/agent.key", "secret"),
                           ("postgres.password", "secret")):
            (copy / name).write_text(text)
        program = self.folder / "usr/bin/pingloom"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\necho "$*" >>{self.folder}/calls\n')
        program.chmod(0o755)
        examples = self.folder / "usr/share/pingloom/config"
        examples.mkdir(parents=True)
        (examples / "controller.yaml").write_text("pinglist: p\n")

    def run_here(self, text, check=True):
        return self.shell(self.LOADED, self.HOST.format(folder=self.folder) + text, check)

    def test_the_other_one_s_configuration_gets_this_one_s_name_and_address(self):
        self.run_here("check_key_options; check_other_controller; [ $check_faults = 0 ]; install() { :; }; install_config controller")
        config = (self.folder / "etc/controller.yaml").read_text()
        self.assertIn('\ncluster: { name: "controller-2", address: "10.0.0.2:20799" }\n', config)
        self.assertNotIn("controller-1", config)
        self.assertIn("\nlog_level: info\n", config)
        taken = {str(path.relative_to(self.folder / "etc")): path.stat().st_mode & 0o777
                 for path in (self.folder / "etc").rglob("*") if path.is_file()}
        self.assertEqual(taken, {"controller.yaml": 0o644, "pinglist.yaml": 0o644, "keys/controller.key": 0o600, "postgres.password": 0o600})
        calls = (self.folder / "calls").read_text()
        self.assertIn(f"keys prepare --key {self.folder}/etc/keys/controller.key --file {self.folder}/state/authorized_keys.yaml", calls)

    def test_again_changes_nothing(self):
        config = self.folder / "etc/controller.yaml"
        config.write_text("keys: { secret: s, authorized: a }\n")
        (self.folder / "etc/pinglist.yaml").touch()
        self.run_here("check_other_controller; install() { :; }; install_config controller")
        self.assertEqual(config.read_text(), "keys: { secret: s, authorized: a }\n")
        self.assertFalse((self.folder / "etc/postgres.password").exists())

    def test_what_cannot_work_is_found_before_anything_is_changed(self):
        other = self.folder / "copy/controller.yaml"
        whole = other.read_text()
        for text, said in ((whole.replace("postgres:", "sqlite:"), "shares nothing"), (whole.replace("cluster:", "klaster:"), "shares nothing"),
                           (whole.replace("controller-1", "controller-2"), "is called controller-2, like this host"),
                           (whole.replace("keys/controller.key", "keys/none.key"), "copy the whole folder as root")):
            other.write_text(text)
            shown = self.run_here("check_other_controller; echo faults: $check_faults")
            self.assertIn(said, shown)
            self.assertIn("faults: 1\n", shown)
        self.assertIn("a copy of another controller's /etc/pingloom", self.run_here("join=/nonexistent; check_key_options", check=False))

    def test_agents_and_collectors_are_told_all_controllers(self):
        agent = f"agent_config <{SCRIPTS.parent}/config/agent.yaml"
        shown = self.shell("steps config", f"controllers='a,[fd00::1]:7' controller=a; {agent}")
        self.assertIn('\ncontroller: ["a", "[fd00::1]:7"]\n', shown)
        collector = f"collector_config <{SCRIPTS.parent}/config/collector.yaml"
        shown = self.shell("steps config kept", f"controllers='a,[fd00::1]:7' controller=a address=b; {collector}")
        self.assertIn('\ncontroller: ["http://a:8080", "http://[fd00::1]:8080"]\n', shown)


class Files(Parts):
    def test_a_changed_program_is_found_without_a_word(self):
        for folder, first in (("tree/agent/bin", b"new"), ("usr/bin", b"old")):
            (self.folder / folder).mkdir(parents=True)
            (self.folder / folder / "pingloom-agent").write_bytes(first + bytes(1 << 20))
        shown = self.shell("steps files", f"tree={self.folder}/tree; component_changed agent && echo changed")
        self.assertEqual(shown, "changed\n")

    def test_the_drop_in_is_installed_where_systemd_knows_its_keys(self):
        unit = "lib/systemd/system/pingloom-agent.service"
        drop_in = "share/pingloom/systemd/pingloom-agent.service.d/restart-steps.conf"
        for path in (unit, drop_in):
            (self.folder / "tree/agent" / path).parent.mkdir(parents=True)
            (self.folder / "tree/agent" / path).touch()
        for systemd, paths in (("252 (252.39-1~deb12u1)", [unit]), ("254.5", [unit, drop_in]), ("257 (257.8-1)", [unit, drop_in])):
            shown = self.shell("steps files", f"tree={self.folder}/tree; systemctl() {{ echo 'systemd {systemd}'; echo +PAM; }}; component_files agent")
            self.assertEqual(shown.splitlines(), paths, systemd)
        self.assertEqual(self.shell("files", f"place_of {drop_in}"), f"{self.folder}/units/pingloom-agent.service.d/restart-steps.conf")


class DebianScripts(Parts):
    """Runs a role's maintainer scripts on a root folder of the test."""

    def run_script(self, name, argument, systemd):
        text = (SCRIPTS.parent / f"packaging/debian/role.{name}.in").read_text().replace("@ROLE@", "agent").replace("@MORE_TO_REMOVE@", "")
        stub = f"systemctl() {{ [ \"$1\" != --version ] || echo 'systemd {systemd}'; }}\n"
        done = subprocess.run(["sh", "-c", stub + text, name, argument], env={"PATH": "/usr/bin:/bin", "DPKG_ROOT": str(self.folder)},
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_drop_in_comes_with_systemd_254_and_goes_with_the_package(self):
        shipped = self.folder / "usr/share/pingloom/systemd/pingloom-agent.service.d"
        shipped.mkdir(parents=True)
        (shipped / "restart-steps.conf").write_text("[Service]\n")
        made = self.folder / "usr/lib/systemd/system/pingloom-agent.service.d/restart-steps.conf"
        self.run_script("postinst", "configure", "252 (252.39-1~deb12u1)")
        self.assertFalse(made.exists())
        for _ in range(2):  # an upgrade too
            self.run_script("postinst", "configure", "257 (257.8-1)")
            self.assertEqual(made.read_text(), "[Service]\n")
        self.run_script("postrm", "upgrade", "257 (257.8-1)")
        self.assertTrue(made.exists())
        self.run_script("postrm", "remove", "257 (257.8-1)")
        self.assertFalse(made.parent.exists())


class Packages(Parts):
    def program(self, name, text):
        """Makes another program of that name, which is found first."""
        file = self.folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/bash\n{text}\n")
        file.chmod(0o755)

    def packages(self, text):
        return self.shell("steps packages", f"PATH={self.folder}/bin:$PATH; package_manager() {{ echo apt; }}\n{text}")

    def test_a_library_that_the_release_has_under_another_name_is_left_out(self):
        self.program("apt-get", "true")
        self.program("apt-cache", '[[ " $* " != *" libhere2 "* ]] || echo Package: libhere2')
        shown = self.packages('apt_has_lists() { true; }; missing=(libhere2 libnone1 none-tools); leave_out_unknown; echo "${missing[*]}"')
        self.assertIn("libnone1 is not of this release", shown)
        self.assertTrue(shown.endswith("\nlibhere2 none-tools\n"), shown)
        # Without lists every name is unknown, so none is left out.
        self.assertEqual(self.packages('apt_has_lists() { false; }; missing=(libnone1); leave_out_unknown; echo "${missing[*]}"'), "libnone1\n")

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


class Configuration(Parts):
    EXAMPLES = SCRIPTS.parent / "config"

    def test_what_options_say_is_valid_yaml(self):
        # Without quotes, [fd00::1]:20711 would begin a list.
        agent = self.shell("steps config", f"controller='[fd00::1]:20711'; agent_config <{self.EXAMPLES}/agent.yaml")
        self.assertIn('\ncontroller: "[fd00::1]:20711"\n', agent)
        collector = self.shell("steps config kept", f"controller='[fd00::1]' address=fd00::2; collector_config <{self.EXAMPLES}/collector.yaml")
        self.assertIn('\ncontroller: "http://[fd00::1]:8080"\n', collector)
        self.assertIn('\naddress: "fd00::2"\n', collector)

    def test_the_first_pinglist_does_the_main_job(self):
        examples = f"config_dir=/etc/pingloom; first_pinglist <{self.EXAMPLES}/pinglist.yaml"
        soft = self.shell("steps checks config", f"device=soft; {examples}")
        self.assertIn("  all: { members: registered }\n", soft)
        self.assertRegex(soft, r"protocol: rdma\n    mesh: all\n")
        none = self.shell("steps checks config", f"has_rdma() {{ false; }}; {examples}")
        self.assertRegex(none, r"write 'protocol: rdma' instead(.|\n)*protocol: udp\n    mesh: all\n")

    def test_pages_are_served_and_found(self):
        agent = f"agent_config <{self.EXAMPLES}/agent.yaml"
        collector = f"collector_config <{self.EXAMPLES}/collector.yaml"
        self.assertTrue(self.shell("steps config kept", f"controller=a; {agent}").endswith("\npages: {}\n"))
        self.assertTrue(self.shell("steps config kept", f"controller=a device=soft; {agent}").endswith("\npages: { address: 127.0.0.1 }\n"))
        there = self.shell("steps config kept", f"controller=10.0.0.9 address=10.0.0.5; {collector}")
        self.assertIn('\ncontroller: "http://10.0.0.9:8080"\n', there)
        self.assertTrue(there.endswith('\nagents: ["10.0.0.5"]\n'), there)
        translator = f"translator_config <{self.EXAMPLES}/translator.yaml"
        alone = self.shell("steps config kept", f"stores_at=dpu-1:7 address=10.0.0.5 with_agent=; {translator}")
        self.assertIn('\naddress: "10.0.0.5"\n', alone)
        self.assertIn('\ncollector: "dpu-1:7"\n', alone)
        self.assertNotIn("\ndevice:", alone)
        soft = self.shell("steps config kept", f"stores_at='[fd00::1]' address=10.0.0.5 device=soft; {translator}")
        self.assertIn('\naddress: "127.0.0.3"\n', soft)
        self.assertTrue(soft.endswith("\ndevice: soft\n"))
        here = self.shell("steps config kept", f"controller=127.0.0.1 address=10.0.0.5 with_controller=yes device=soft; {collector}")
        self.assertIn('\naddress: "127.0.0.2"\n', here)
        self.assertNotIn("\nagents:", here)

    def kept(self, name, text, settings):
        (self.folder / "etc" / name).write_text(text)
        return self.shell("steps checks config kept", f"{settings}; mode=tree; first_config {name} {self.EXAMPLES} cat")

    def test_an_option_that_a_kept_configuration_contradicts_is_named(self):
        options = "controller=10.0.0.9 device=soft address=10.0.0.7 given=(--controller --device --address)"
        agent = self.kept("agent.yaml", "#controller: 10.0.0.9\ncontroller: 10.0.0.8:20711  # the old one\nrdma:\n  device: mlx5_0\n", options)
        self.assertRegex(agent, r"warning  --controller has no effect: \S+/agent.yaml stays as it is and says 10.0.0.8, not 10.0.0.9; "
                                r"edit 'controller' there, then systemctl reload pingloom-agent")
        self.assertRegex(agent, r"warning  --device has no effect: .* says mlx5_0, not soft; .* systemctl restart pingloom-agent")
        collector = self.kept("collector.yaml", "address: [10.0.0.5, '10.0.0.6']\nagents: [10.0.0.1]\n", options)
        self.assertIn("says nothing, not 10.0.0.9;", collector)
        self.assertIn("says auto, not soft;", collector)
        self.assertIn("says 10.0.0.5, 10.0.0.6, not 10.0.0.7;", collector)
        translator = self.kept("translator.yaml", "address: 10.0.0.5\ncollector: 10.0.0.8:20717\n",
                               f"{options[:-1]} --translator) stores_at=10.0.0.9")
        self.assertIn("--translator has no effect: ", translator)
        self.assertIn("says 10.0.0.8, not 10.0.0.9; edit 'collector'", translator)
        self.assertIn("says 10.0.0.5, not 10.0.0.7;", translator)
        (self.folder / "new.yaml").write_text("version: 1\nprobes: []\n")
        pinglist = self.kept("pinglist.yaml", "version: 1\n", f"{options} pinglist={self.folder}/new.yaml")
        self.assertIn("warning  --pinglist has no effect", pinglist)

    def test_one_that_it_says_too_is_not(self):
        options = "controller='[fd00::1]' device=soft address=10.0.0.6 given=(--controller --device --address)"
        for name, text in (("agent.yaml", 'controller: "[fd00::1]:20711"\n\nrdma: { poll: busy, device: soft }\n'),
                           ("collector.yaml", "address:\n  - 10.0.0.5\n  - 10.0.0.6\ncontroller: https://[fd00::1]:8443\ndevice: soft # yes\n"),
                           ("pinglist.yaml", "probes: [{ mesh: [10.0.0.6] }]\n")):
            self.assertNotIn("warning", self.kept(name, text, options))
        # An option that was not given contradicts nothing.
        self.assertNotIn("warning", self.kept("agent.yaml", "controller: a\nrdma: { device: soft }\n", "controller=127.0.0.1"))


class Removal(Parts):
    KNOWN = "getent() { true; }; dpkg-query() { false; }\n"

    def test_a_dry_run_prints_what_is_done_and_no_more(self):
        (self.folder / "installer/manifest.agent").write_text("/usr/local/bin/pingloom-agent\n")
        (self.folder / "installer/folders").write_text("/usr/local/a\n/usr/local/a/b\n")
        shown = self.shell("steps uninstall", "dry=yes; remove_trees")
        self.assertEqual([line.split()[2:] for line in shown.splitlines()],
                         [["'rm'", "'-f'", "'/usr/local/bin/pingloom-agent'"],
                          ["'rmdir'", "'--ignore-fail-on-non-empty'", "'/usr/local/a/b'"], ["'rmdir'", "'--ignore-fail-on-non-empty'", "'/usr/local/a'"],
                          ["'rm'", "'-f'", *(f"'{self.folder}/installer/{name}'" for name in ("manifest.agent", "folders", "mode", "prefix"))],
                          ["'systemctl'", "'daemon-reload'"]])
        shown = self.shell("steps uninstall", self.KNOWN + "remove_packages() { :; }; dry=yes; purge_rest")
        self.assertIn("'userdel' 'pingloom-agent'", shown)
        self.assertNotIn("'groupdel' 'pingloom-agent'", shown)  # userdel removes it
        self.assertIn("'groupdel' 'pingloom'", shown)


if __name__ == "__main__":
    unittest.main()
