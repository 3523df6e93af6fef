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


class Report(Install, unittest.TestCase):
    library, consumer = "report", HERE / "report_consumer"


if __name__ == "__main__":
    unittest.main()
