"""An application finds what is installed, by CMake and by pkg-config, in C and in C++, shared and static."""

import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Install:
    """The tests of one library."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="pingloom-install-")
        cls.prefix = pathlib.Path(cls.folder.name) / "prefix"
        for component in (cls.library, f"{cls.library}-dev"):
            run("cmake", "--install", os.environ["PINGLOOM_BUILD"], "--prefix", cls.prefix, "--component", component)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_cmake(self):
        build = pathlib.Path(self.folder.name) / "build"
        run("cmake", "-S", self.consumer, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        for name in ("consumer_c", "consumer_cpp", "consumer_c_static", "consumer_cpp_static"):
            self.assertEqual(run(build / name), "1500\n", name)

    def test_pkg_config(self):
        found = dict(os.environ, PKG_CONFIG_PATH=str(self.prefix / "lib/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", f"pingloom-{self.library}", env=found).split()
        self.assertTrue(any(str(self.prefix) in flag for flag in flags), "it goes where it was installed")
        program = pathlib.Path(self.folder.name) / "program"
        loaded = dict(os.environ, LD_LIBRARY_PATH=str(self.prefix / "lib"))
        for compiler in (("cc", "-std=c11", "consumer.c"), ("c++", "-std=c++17", "consumer.cpp")):
            source = self.consumer / compiler[2]
            run(*compiler[:2], "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-o", program, *flags)
            self.assertEqual(run(program, env=loaded), "1500\n")

    def test_headers_as_the_oldest_language_takes_them(self):
        for compiler in (("cc", "-std=c99", "-x", "c"), ("c++", "-std=c++11", "-x", "c++")):
            run(*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{self.prefix}/include", "-",
                input=f"#include <pingloom/{self.library}.h>\nint main(void) {{ return 0; }}\n")

    def test_only_its_own_names_are_exported(self):
        symbols = run("nm", "-D", "--defined-only", self.prefix / f"lib/libpingloom-{self.library}.so").splitlines()
        names = [line.split()[-1] for line in symbols if " A " not in line]
        self.assertEqual([name for name in names if not name.startswith("pingloom_")], [])
        self.assertGreater(len(names), 7)


class Pages(Install, unittest.TestCase):
    library, consumer = "pages", HERE / "consumer"

    def test_python_finds_its_modules(self):
        # Where Debian's python3 looks for them, below a folder instead of /.
        for prefix in ("/usr", "/usr/local"):
            root = pathlib.Path(self.folder.name) / f"root{prefix.replace('/', '-')}"
            run("cmake", "--install", os.environ["PINGLOOM_BUILD"], "--prefix", prefix, "--component", "pages-python",
                env=dict(os.environ, DESTDIR=str(root), PATH="/usr/bin:/bin"))
            searched = run("/usr/bin/python3", "-c", "import site; print('\\n'.join(site.getsitepackages()))").split()
            for module in ("pingloom_pages", "pingloom_pages_library", "pingloom_pages_mirror",
                           "pingloom_pages_prometheus", "pingloom_pages_prometheus_keeper",
                           "pingloom_pages_prometheus_values", "pingloom_pages_opentelemetry"):
                found = [folder for folder in searched if (root / folder.strip("/") / f"{module}.py").exists()]
                self.assertEqual(len(found), 1, f"{module} below {prefix} is not where python3 looks: {searched}")
                self.assertTrue(found[0].startswith(prefix))

    def test_below_another_prefix_they_are_in_one_folder(self):
        run("cmake", "--install", os.environ["PINGLOOM_BUILD"], "--prefix", self.prefix, "--component", "pages-python")
        self.assertTrue((self.prefix / "lib/python3/dist-packages/pingloom_pages.py").exists())


class Report(Install, unittest.TestCase):
    library, consumer = "report", HERE / "report_consumer"


if __name__ == "__main__":
    unittest.main()
