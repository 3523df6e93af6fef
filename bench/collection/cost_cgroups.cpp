// Shows the metrics of cgroups on the agent's metric pages, and serves them from an endpoint that
// reads the files when it is scraped, as cAdvisor and other exporters do. Both read and parse them
// by the agent's code, so the difference is what showing and serving them costs.
#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <vector>

#include "agent/system/readings.h"
#include "agent/system/shown_readings.h"
#include "agent/system/system_reader.h"
#include "cgroup_tree.h"
#include "cost_rounds.h"
#include "page_host.h"
#include "pods.h"

namespace pingloom::bench {
namespace {

using agent::system::Family;
using agent::system::Kind;
using agent::system::Reading;
using agent::system::Readings;
using agent::system::SystemReader;

constexpr const char* kEndpoint = "127.0.0.1:29098";

SystemReader readerOf(const CgroupTree& tree) { return SystemReader("/proc", tree.root()); }

// As the agent's thread for system metrics does.
int showOnPages(const CgroupTree& tree, const Load& load, int ready) {
  const auto service = startPageService(0);
  SystemReader reader = readerOf(tree);
  agent::system::ShownReadings shown("pingloom-cgroups", PageHost::socket(0));
  Readings readings;
  for (Nanos due = monotonicNow();; due += load.interval) {
    readings.clear();
    reader.readCgroups(readings);
    shown.show(readings, monotonicNow());
    if (ready >= 0 && write(std::exchange(ready, -1), "r", 1) != 1) return 1;
    sleepUntil(due + load.interval);
  }
}

class CgroupEndpoint : public prometheus::Collectable {
 public:
  explicit CgroupEndpoint(const CgroupTree& tree) : reader_(readerOf(tree)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    readings_.clear();
    reader_.readCgroups(readings_);
    std::vector<const Family*> known;
    std::vector<prometheus::MetricFamily> families;
    for (const Reading& reading : readings_.all) {
      familyOf(*reading.family, known, families).metric.push_back(metricOf(reading));
    }
    return families;
  }

 private:
  static prometheus::MetricFamily& familyOf(const Family& family, std::vector<const Family*>& known,
                                            std::vector<prometheus::MetricFamily>& families) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] == &family) return families[i];
    }
    known.push_back(&family);
    const auto type = family.kind == Kind::kCounter ? prometheus::MetricType::Counter
                                                    : prometheus::MetricType::Gauge;
    return families.emplace_back(prometheus::MetricFamily{family.name, family.help, type, {}});
  }

  static prometheus::ClientMetric metricOf(const Reading& reading) {
    const Family& family = *reading.family;
    prometheus::ClientMetric made;
    for (std::size_t i = 0; i < Family::kMaxLabels && family.labels[i] != nullptr; ++i) {
      if (!reading.labels[i].empty()) {
        made.label.push_back({family.labels[i], std::string(reading.labels[i])});
      }
    }
    made.counter.value = static_cast<double>(reading.count) * family.unit;
    made.gauge.value = reading.value;
    return made;
  }

  mutable std::mutex mutex_;
  mutable SystemReader reader_;
  mutable Readings readings_;
};

int serveEndpoint(const CgroupTree& tree, int ready) {
  const auto cgroups = std::make_shared<CgroupEndpoint>(tree);
  prometheus::Exposer exposer(kEndpoint, 1);
  exposer.RegisterCollectable(cgroups);
  if (write(ready, "r", 1) != 1) return 1;
  for (;;) pause();
}

}  // namespace

double cgroupsOnPages(const Load& load) {
  const CgroupTree tree(load.count);
  Child host([&](int ready) { return showOnPages(tree, load, ready); });
  if (!host.await('r')) die(Error{"cgroups", "are not shown"});
  return costOfPages(pageAgent(0), load, [&] { return host.usage().cpu; });
}

double cgroupsScraped(const Load& load) {
  const CgroupTree tree(load.count);
  Child host([&](int ready) { return serveEndpoint(tree, ready); });
  if (!host.await('r')) die(Error{"cgroups", "are not served"});
  return costOfScrapes({fmt::format("http://{}", kEndpoint)}, "pingloom_cgroup_", load,
                       [&] { return host.usage().cpu; });
}

}  // namespace pingloom::bench
