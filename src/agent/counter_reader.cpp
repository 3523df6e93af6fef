#include "agent/counter_reader.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "common/file.h"
#include "common/text.h"
#include "rdma/verbs/port_counters.h"

namespace pingloom::agent {
namespace {

constexpr std::size_t kMaxValueBytes = 64;

struct InterfaceFile {
  std::string_view file;
  std::string_view name;
};

// Where an interface has the counters, and node_exporter's names for them.
constexpr std::array kInterfaceFiles = {
    InterfaceFile{"statistics/rx_errors", "receive_errs_total"},
    InterfaceFile{"statistics/rx_crc_errors", "receive_crc_errors_total"},
    InterfaceFile{"statistics/rx_frame_errors", "receive_frame_total"},
    InterfaceFile{"statistics/rx_fifo_errors", "receive_fifo_total"},
    InterfaceFile{"statistics/rx_missed_errors", "receive_missed_errors_total"},
    InterfaceFile{"statistics/rx_dropped", "receive_drop_total"},
    InterfaceFile{"statistics/tx_errors", "transmit_errs_total"},
    InterfaceFile{"statistics/tx_carrier_errors", "transmit_carrier_total"},
    InterfaceFile{"statistics/tx_fifo_errors", "transmit_fifo_total"},
    InterfaceFile{"statistics/tx_dropped", "transmit_drop_total"},
    InterfaceFile{"carrier_changes", "carrier_changes_total"},
};

void orderById(std::vector<NicCounter>& counters) {
  std::sort(counters.begin(), counters.end(),
            [](const NicCounter& a, const NicCounter& b) { return a.id < b.id; });
}

}  // namespace

void CounterReader::find(const std::vector<std::string>& interfaces) {
  places_ = counterPlaces(sysfs_, interfaces);
  ethtool_.keepOnly(places_.interfaces);
}

NicPorts CounterReader::read() {
  NicPorts ports;
  std::size_t counted = 0;
  const auto add = [&](const std::string& device, std::uint32_t port,
                       std::vector<NicCounter> counters) {
    if (counters.empty() || ports.size() == kMaxNicPorts) return;
    if (counted + counters.size() > kMaxNicCounters) return;
    counted += counters.size();
    ports.push_back({device, port, std::move(counters)});
  };
  for (const RdmaPortPlace& place : places_.rdma_ports) {
    add(place.device, place.port, readRdmaPort(place));
  }
  for (const std::string& interface : places_.interfaces) {
    add(interface, 0, readInterface(interface));
  }
  std::sort(ports.begin(), ports.end(), [](const NicPort& a, const NicPort& b) {
    return std::tie(a.device, a.port) < std::tie(b.device, b.port);
  });
  return ports;
}

std::vector<NicCounter> CounterReader::readRdmaPort(const RdmaPortPlace& place) const {
  const auto id_of = [](std::string_view name) { return counterNamed(CounterOrigin::kPort, name); };
  std::vector<NicCounter> counters;
  for (const rdma::PortCounter& counter : rdma::verbs::readPortCounters(
           sysfs_ / "class/infiniband" / place.device / "ports" / std::to_string(place.port),
           [&id_of](std::string_view name) { return id_of(name).has_value(); })) {
    counters.push_back({id_of(counter.name).value_or(0), counter.value});
  }
  orderById(counters);
  return counters;
}

std::vector<NicCounter> CounterReader::readInterface(const std::string& interface) {
  std::vector<NicCounter> counters = ethtool_.read(interface);
  for (const auto& [file, name] : kInterfaceFiles) {
    const auto text = readFile(sysfs_ / "class/net" / interface / file, kMaxValueBytes);
    if (!text) continue;
    const auto value = parseUnsigned(trimmed(*text), UINT64_MAX);
    const auto id = counterNamed(CounterOrigin::kInterface, name);
    if (value && id) counters.push_back({*id, *value});
  }
  orderById(counters);
  return counters;
}

}  // namespace pingloom::agent
