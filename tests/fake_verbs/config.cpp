#include "config.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

namespace fake {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "fake verbs: %s\n", what.c_str());
  std::abort();
}

std::uint64_t number(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0') refuse("'" + text + "' is no number");
  return value;
}

using Setter = std::function<void(const std::string&)>;

// The rest of the line: key=value, each of which `setters` must know.
void readAttributes(std::istringstream& words, const std::map<std::string, Setter>& setters) {
  std::string word;
  while (words >> word) {
    const auto equals = word.find('=');
    const auto setter = setters.find(word.substr(0, equals));
    if (equals == std::string::npos || setter == setters.end()) refuse("unknown: " + word);
    setter->second(word.substr(equals + 1));
  }
}

DeviceConfig readDevice(std::istringstream& words) {
  DeviceConfig device;
  words >> device.name;
  const auto into = [](auto& field) {
    return [&field](const std::string& text) {
      field = static_cast<std::remove_reference_t<decltype(field)>>(number(text));
    };
  };
  const auto choice = [](bool& field) {
    return [&field](const std::string& text) { field = text != "no"; };
  };
  readAttributes(words, {{"clock_khz", into(device.clock_khz)},
                         {"said_khz", into(device.said_khz)},
                         {"mask_bits", into(device.mask_bits)},
                         {"offset", into(device.offset)},
                         {"delay_us", into(device.delay_us)},
                         {"vendor", into(device.vendor)},
                         {"part", into(device.part)},
                         {"rd_atom", into(device.rd_atom)},
                         {"open_errno", into(device.open_errno)},
                         {"memory_errno", into(device.memory_errno)},
                         {"timestamp_queues", choice(device.timestamp_queues)},
                         {"timestamp_pairs", choice(device.timestamp_pairs)},
                         {"sysfs", [&](const std::string& text) { device.sysfs = text; }}});
  return device;
}

PortConfig readPort(std::istringstream& words) {
  PortConfig port;
  std::string text;
  words >> text;
  port.number = static_cast<std::uint8_t>(number(text));
  readAttributes(
      words,
      {{"link", [&](const std::string& value) { port.ethernet = value == "ethernet"; }},
       {"state", [&](const std::string& value) { port.active = value == "active"; }},
       {"mtu", [&](const std::string& v) { port.mtu = static_cast<std::uint32_t>(number(v)); }},
       {"lid", [&](const std::string& v) { port.lid = static_cast<std::uint16_t>(number(v)); }}});
  return port;
}

GidConfig readGid(std::istringstream& words) {
  std::string index;
  std::string address;
  std::string type;
  words >> index >> address >> type;
  GidConfig gid;
  gid.index = static_cast<std::uint32_t>(number(index));
  gid.gid = parseAddress(address);
  if (type == "v2") {
    gid.type = IBV_GID_TYPE_ROCE_V2;
  } else if (type == "v1") {
    gid.type = IBV_GID_TYPE_ROCE_V1;
  } else if (type == "ib") {
    gid.type = IBV_GID_TYPE_IB;
  } else {
    refuse("unknown GID type: " + type);
  }
  return gid;
}

}  // namespace

GidBytes parseAddress(const std::string& text) {
  GidBytes gid{};
  if (inet_pton(AF_INET6, text.c_str(), gid.data()) == 1) return gid;
  gid[10] = gid[11] = 0xFF;
  if (inet_pton(AF_INET, text.c_str(), gid.data() + 12) != 1) refuse("no address: " + text);
  return gid;
}

std::vector<DeviceConfig> parseConfig(const std::string& text) {
  std::vector<DeviceConfig> devices;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string what;
    if (!(words >> what)) continue;
    if (what == "device") {
      devices.push_back(readDevice(words));
    } else if (what == "port" && !devices.empty()) {
      devices.back().ports.push_back(readPort(words));
    } else if (what == "gid" && !devices.empty() && !devices.back().ports.empty()) {
      devices.back().ports.back().gids.push_back(readGid(words));
    } else {
      refuse("not understood: " + line);
    }
  }
  return devices;
}

}  // namespace fake
