#include "wire/nic_counter_codec.h"

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace pingloom::wire {
namespace {

std::optional<CounterId> knownCounter(std::uint32_t port, const std::string& name) {
  if (port > 0) return counterNamed(CounterOrigin::kPort, name);
  if (const auto id = counterNamed(CounterOrigin::kInterface, name)) return id;
  return counterNamed(CounterOrigin::kEthtool, name);
}

Result<NicPort> decodePort(const PortCounters& in) {
  const std::string& device = in.device();
  if (device.empty() || device.size() > kMaxNicDevice || !isOneWord(device) ||
      invalidUtf8At(device) != std::string_view::npos) {
    return makeError("counters", "the name of their device is malformed");
  }
  if (in.port() > kMaxNicPort) return makeError("counters of " + device, "the port is above 255");
  NicPort port{device, in.port(), {}};
  for (const Counter& counter : in.counters()) {
    if (const auto id = knownCounter(port.port, counter.name())) {
      port.counters.push_back({*id, counter.value()});
    }
  }
  auto& counters = port.counters;
  std::sort(counters.begin(), counters.end(),
            [](const NicCounter& a, const NicCounter& b) { return a.id < b.id; });
  const auto twice =
      std::adjacent_find(counters.begin(), counters.end(),
                         [](const NicCounter& a, const NicCounter& b) { return a.id == b.id; });
  if (twice != counters.end()) return makeError("counters of " + device, "one is there twice");
  return port;
}

}  // namespace

void encode(const NicUpdate& update, CounterUpdate& out) {
  out.set_complete(update.complete);
  for (const NicPort& port : update.ports) {
    PortCounters& to = *out.add_ports();
    to.set_device(port.device);
    to.set_port(port.port);
    for (const NicCounter& counter : port.counters) {
      Counter& one = *to.add_counters();
      one.set_name(std::string(watchedCounters()[counter.id].name));
      one.set_value(counter.value);
    }
  }
}

Result<NicUpdate> decode(const CounterUpdate& in) {
  if (static_cast<std::size_t>(in.ports_size()) > kMaxNicPorts) {
    return makeError("counters", "are of more than 64 ports");
  }
  NicUpdate update;
  update.complete = in.complete();
  std::size_t told = 0;
  for (const PortCounters& each : in.ports()) {
    told += static_cast<std::size_t>(each.counters_size());
    if (told > kMaxNicCounters) return makeError("counters", "are more than 2048");
    auto port = decodePort(each);
    if (!port) return tl::unexpected(port.error());
    update.ports.push_back(std::move(*port));
  }
  const auto key = [](const NicPort& port) { return std::pair(port.device, port.port); };
  std::sort(update.ports.begin(), update.ports.end(),
            [&key](const NicPort& a, const NicPort& b) { return key(a) < key(b); });
  const auto twice =
      std::adjacent_find(update.ports.begin(), update.ports.end(),
                         [&key](const NicPort& a, const NicPort& b) { return key(a) == key(b); });
  if (twice != update.ports.end()) return makeError("counters of " + twice->device, "come twice");
  return update;
}

}  // namespace pingloom::wire
