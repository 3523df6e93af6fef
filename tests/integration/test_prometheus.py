"""A real Prometheus scrapes a real controller with the shipped rules, and tells a real Alertmanager of a slow host.

The dashboard's queries are asked of it too, while it has data."""

import json
import re
import unittest
import urllib.parse

from mesh import ROOT, Mesh, free_port, parse_metrics
from processes import eventually

RULES = ROOT / "packaging/prometheus/pingloom.rules.yml"
DASHBOARD = ROOT / "packaging/grafana/pingloom.json"
RACKS = ("a", "a", "b", "c", "c", "c")
SLOW = 2  # the only host of rack b
IMPAIRED = "{ device: soft, impair: [{ delay: 2ms, jitter: 500us }] }"


class Prometheus(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=len(RACKS))
        hosts = "".join(f"  h{i}: {{ address: {address}, rack: {RACKS[i]} }}\n"
                        for i, address in enumerate(self.mesh.addresses))
        members = ", ".join(f"h{i}" for i in range(len(RACKS)))
        self.mesh.write_pinglist(
            "version: 1\ndefaults: { interval: 100ms, timeout: 300ms, window: 1s, rollup: rack }\n"
            f"hosts:\n{hosts}probes:\n  - {{ name: rdma, protocol: rdma, mesh: [{members}] }}\n")
        self.mesh.start()
        self.start_alertmanager()
        self.start_prometheus()
        self.mesh.wait_for_rows("rdma", state="ok", seconds=60)

    def start_alertmanager(self):
        folder, self.alertmanager_port = self.mesh.directory, free_port()
        (folder / "alertmanager.yml").write_text("route: { receiver: none }\nreceivers: [{ name: none }]\n")
        self.mesh.run("alertmanager", "prometheus-alertmanager", f"--config.file={folder}/alertmanager.yml",
                      f"--storage.path={folder}/alertmanager",
                      f"--web.listen-address={self.mesh.home}:{self.alertmanager_port}", "--cluster.listen-address=")

    def start_prometheus(self):
        mesh, self.prometheus_port = self.mesh, free_port()
        (mesh.directory / "prometheus.yml").write_text(f"""global: {{ scrape_interval: 1s, evaluation_interval: 1s }}
rule_files: [{RULES}]
alerting: {{ alertmanagers: [{{ static_configs: [{{ targets: ["{mesh.home}:{self.alertmanager_port}"] }}] }}] }}
scrape_configs: [{{ job_name: pingloom, static_configs: [{{ targets: ["{mesh.home}:{mesh.http_port}"] }}] }}]
""")
        mesh.run("prometheus", "prometheus", f"--config.file={mesh.directory}/prometheus.yml",
                 f"--storage.tsdb.path={mesh.directory}/prometheus",
                 f"--web.listen-address={mesh.home}:{self.prometheus_port}")
        for port in (self.prometheus_port, self.alertmanager_port):
            eventually(lambda port=port: mesh.get("/-/ready", port=port).status == 200, 30, f"{port} is ready")

    def query(self, expression):
        """The values of an instant vector by the labels of each, without the metric's name."""
        path = "/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        answer = self.mesh.get(path, port=self.prometheus_port)
        self.assertEqual(answer.status, 200, f"{expression}: {answer.body}")
        return [({name: value for name, value in sample["metric"].items() if name != "__name__"},
                 float(sample["value"][1])) for sample in answer.json()["data"]["result"]]

    def alerts(self):
        """{(alertname, kind): labels} of what Alertmanager has and is not resolved."""
        found = self.mesh.get("/api/v2/alerts", port=self.alertmanager_port).json()
        return {(alert["labels"]["alertname"], alert["labels"].get("kind")): alert["labels"] for alert in found}

    def restart_agent(self, index, rdma=None):
        self.mesh.agents[index].kill()
        self.mesh.rdma.pop(index, None)
        if rdma is not None:
            self.mesh.rdma[index] = rdma
        self.mesh.start_agent(index)

    def rack_medians(self):
        found = self.query("histogram_quantile(0.5, sum by (source, destination, le) "
                           '(rate(pingloom_latency_rollup_seconds_bucket{label="rack",part="network"}[5s])))')
        return {(labels["source"], labels["destination"]): value for labels, value in found}

    def test_a_slow_host_reaches_alertmanager_and_its_rack_is_slow(self):
        self.assert_rules_are_healthy()
        self.assertEqual(self.alerts(), {}, "nothing is wrong yet")
        self.assert_histograms_add_up()
        self.restart_agent(SLOW, IMPAIRED)
        labels = eventually(lambda: self.alerts().get(("PingloomIncident", "host")), 40,
                            lambda: f"the incident in Alertmanager; it has {self.alerts()}; the controller has "
                                    + self.mesh.get("/api/v1/incidents").body)
        self.assertEqual(labels["severity"], "critical")
        self.assertEqual(labels["instance"], f"{self.mesh.home}:{self.mesh.http_port}")

        def rack_is_slow():
            medians = self.rack_medians()
            return (len(medians) == 8 and  # b has one host, so b to b has no pair
                    all((value > 1e-3) == ("b" in racks) for racks, value in medians.items()))

        eventually(rack_is_slow, 30, lambda: f"only rack b is slow: {self.rack_medians()}")
        self.assert_dashboard_has_data()
        self.restart_agent(SLOW)
        eventually(lambda: not self.alerts(), 60, lambda: f"the alert is resolved: {self.alerts()}")

    def assert_rules_are_healthy(self):
        def health():
            groups = self.mesh.get("/api/v1/rules", port=self.prometheus_port).json()["data"]["groups"]
            return {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}

        eventually(lambda: "PingloomIncident" in health() and "unknown" not in health().values(), 20,
                   lambda: f"all rules are evaluated: {health()}")
        self.assertEqual(set(health().values()), {"ok"}, health())

    def assert_histograms_add_up(self):
        """The racks' histograms together are the probe's, and Prometheus has all series of each."""
        parts = ("network", "responder", "prober", "rtt")

        def whole_of(metrics, part):
            return metrics[f'pingloom_latency_seconds_count{{probe="rdma",part="{part}"}}']

        def counted():
            metrics = parse_metrics(self.mesh.get("/metrics").body)
            return metrics if all(whole_of(metrics, part) > 0 for part in parts) else None

        metrics = eventually(counted, 20, "every part has been counted")
        for part in parts:
            whole = whole_of(metrics, part)
            racks = [value for name, value in metrics.items()
                     if name.startswith("pingloom_latency_rollup_seconds_count{") and f'part="{part}"' in name]
            self.assertEqual((len(racks), sum(racks)), (8, whole))
            self.assertEqual(metrics[f'pingloom_latency_seconds_bucket{{probe="rdma",part="{part}",le="+Inf"}}'], whole)
        self.assertEqual(metrics["pingloom_latency_series"], sum(name.startswith(
            ("pingloom_latency_seconds_", "pingloom_latency_rollup_seconds_")) for name in metrics))
        self.assertEqual(metrics['pingloom_latency_left_out{probe="rdma"}'], 0)
        eventually(lambda: len(self.query('pingloom_latency_seconds_bucket{part="rtt"}')) == 22, 20,
                   "Prometheus has the buckets of the round trip")

    def assert_dashboard_has_data(self):
        """Each panel has data, besides those that show only what is refused."""
        for panel in json.loads(DASHBOARD.read_text())["panels"]:
            for target in panel["targets"]:
                expression = target["expr"].replace("$__rate_interval", "10s")
                expression = re.sub(r"\$(instance|probe)\b", ".*", expression)
                if not self.query(expression) and not expression.endswith("> 0"):
                    self.fail(f"no data in the panel {panel['title']}: {expression}")


if __name__ == "__main__":
    unittest.main()
