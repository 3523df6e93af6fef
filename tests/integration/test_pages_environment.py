"""Labels and names that applications get from the environment, in each language, with a real agent and a real collector."""

import json
import pathlib
import sys
import tempfile
import unittest

from prometheus_client.parser import text_string_to_metric_families as parse_text

from go_tool import ROOT, go
from pages_case import PagesCase
from processes import binary, eventually
from rust_tool import test_writer

POD = {"k8s_pod_name": "shop-0", "k8s_namespace_name": "prod, \"eu\""}
ATTRIBUTES = "k8s.pod.name=shop-0,k8s.namespace.name=prod%2C%20%22eu%22,own=environment,host=h"
PYTHON = """import os, sys, time, pingloom_pages
pages = pingloom_pages.Pages(labels={"own": "application"})
pages.counter("python_total").add(1)
pages.counter("python_full_total", labels={f"l{i}": "x" for i in range(15)}).add(1)
pages.counter("python_pod_total", labels={"k8s_pod_name": "mine"}).add(1)
child = os.fork()
time.sleep(600)
"""


class PagesEnvironment(PagesCase):
    def setUp(self):
        super().setUp()
        self.build = pathlib.Path(binary("pingloom")).parents[1]
        self.environment = {"PINGLOOM_PAGES_SOCKET": str(self.socket(1)), "OTEL_RESOURCE_ATTRIBUTES": ATTRIBUTES,
                            "OTEL_SERVICE_NAME": "from-environment"}

    def start(self, **how):
        self.start_agent(1, **how)
        self.start_collector(agents=[1])

    def samples(self):
        """The labels of all samples by name."""
        found = {}
        for family in parse_text(self.get("/metrics")):
            for sample in family.samples:
                found.setdefault(sample.name, []).append(sample.labels)
        return found

    def labels_of(self, name, count=1):
        """Those of a metric's series, once as many are shown."""
        return eventually(lambda: (found := self.samples().get(name, [])) and len(found) == count and found, 60,
                          lambda: f"{name} is shown: {self.samples().keys()}", 0.2)

    def start_python(self, **environment):
        library = self.build / "lib/libpingloom-pages.so"
        return self.run_one("python", sys.executable, "-B", "-c", PYTHON, environment={
            **self.environment, "PYTHONPATH": str(ROOT / "python"), "PINGLOOM_PAGES_LIBRARY": str(library), **environment})

    def test_a_library_takes_labels_and_a_name(self):
        self.start()
        self.start_python()
        for labels in self.labels_of("python_total", 2):  # the child has them, too
            self.assertEqual(labels["application"], "from-environment")
            self.assertEqual({name: labels[name] for name in POD}, POD)
            self.assertEqual(labels["own"], "application", "the application's labels win")
            self.assertEqual((labels["host"], labels["exported_host"]), ("host-1", "h"))
        full = self.labels_of("python_full_total", 2)[0]
        self.assertEqual(full.keys(), {"own", "host", "application", "pid", *(f"l{i}" for i in range(15))})
        self.assertEqual(self.labels_of("python_pod_total", 2)[0]["k8s_pod_name"], "mine")
        owners = {page["application"] for agent in json.loads(self.get("/api/v1/pages"))["agents"] for page in agent["pages"]}
        self.assertEqual(owners, {"from-environment", "pingloom-agent"})

    def test_a_malformed_variable_adds_nothing(self):
        self.start()
        self.start_python(OTEL_RESOURCE_ATTRIBUTES="k8s.pod.name=shop-0,k8s.namespace.name", OTEL_SERVICE_NAME="a\tb")
        for labels in self.labels_of("python_total", 2):
            self.assertEqual(labels.keys(), {"own", "host", "application", "pid"})
            self.assertRegex(labels["application"], "^python")

    def test_go_takes_labels(self):
        with tempfile.TemporaryDirectory(prefix="pingloom-pages-go-") as folder:
            program = pathlib.Path(folder, "pages_go")
            go(self.build, ROOT / "tests/integration/pages_go", "build", "-o", program)
            self.start()
            self.run_one("go", program, "counter", "1", "1", environment=self.environment)
            labels, = self.labels_of("go_jobs_total")
        self.assertEqual({name: labels[name] for name in POD}, POD)
        self.assertEqual((labels["application"], labels["path"]), ('shop "go"', 'a"b\\c'), "what it gives itself wins")

    def test_rust_takes_labels(self):
        self.start()
        self.run_one("rust", "sh", "-c", f"sleep 600 | exec {test_writer(self.build)}", environment=self.environment)
        labels, = self.labels_of("rust_depth")
        self.assertEqual({name: labels[name] for name in POD}, POD)
        self.assertEqual((labels["application"], labels["service"]), ("rusty", "tests"), "what it gives itself wins")

    def test_an_agents_own_metrics_do_not_have_its_pods_labels(self):
        self.start(system=True, prefix=["env", f"OTEL_RESOURCE_ATTRIBUTES={ATTRIBUTES}"])
        labels, = self.labels_of("node_load1")
        self.assertEqual(labels.keys(), {"host", "application", "pid"})


if __name__ == "__main__":
    unittest.main()
