#include "agent/device_metrics.h"

#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "rdma/verbs/port_counters.h"

namespace pingloom::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPorts = 64;

struct Sample {
  std::string device;
  std::string port;
  std::uint64_t value;
};

std::vector<fs::path> entriesOf(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
       at.increment(failed)) {
    found.push_back(at->path());
  }
  return found;
}

std::string interfaceMetric(const WatchedCounter& counter) {
  if (counter.origin == CounterOrigin::kInterface) {
    return "pingloom_network_" + std::string(counter.name);
  }
  std::string name = "pingloom_ethtool_" + std::string(counter.name) + "_total";
  std::replace(name.begin(), name.end(), '.', '_');  // as in "rx_priority_0_xoff.nic"
  return name;
}

}  // namespace

void writeDeviceCounters(MetricsText& out, const fs::path& devices) {
  std::map<std::string, std::vector<Sample>> families;
  std::size_t ports = 0;
  for (const fs::path& device : entriesOf(devices)) {
    for (const fs::path& port : entriesOf(device / "ports")) {
      if (++ports > kMaxPorts) break;
      for (const rdma::PortCounter& counter : rdma::verbs::readPortCounters(port)) {
        families[counter.name].push_back(
            {device.filename().string(), port.filename().string(), counter.value});
      }
    }
  }
  for (const auto& [name, samples] : families) {
    out.family("pingloom_infiniband_" + name, "counter", "Of an RDMA port, as its driver counts.");
    for (const Sample& sample : samples) {
      out.sample(sample.value, {{"device", sample.device}, {"port", sample.port}});
    }
  }
}

void writeInterfaceCounters(MetricsText& out, const NicPorts& ports) {
  std::map<std::string, std::vector<Sample>> families;
  for (const NicPort& port : ports) {
    if (port.port != 0) continue;
    for (const NicCounter& counter : port.counters) {
      families[interfaceMetric(watchedCounters()[counter.id])].push_back(
          {port.device, {}, counter.value});
    }
  }
  for (const auto& [name, samples] : families) {
    out.family(name, "counter", "Of a network interface, as its driver counts.");
    for (const Sample& sample : samples) out.sample(sample.value, {{"device", sample.device}});
  }
}

}  // namespace pingloom::agent
