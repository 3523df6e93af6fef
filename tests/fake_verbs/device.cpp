#include "device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

namespace fake {
namespace {

struct Registry {
  std::string text;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<std::unique_ptr<Device>> former;  // of earlier configurations
  std::size_t faults_read = 0;
};
Registry& registry() {
  static Registry one;
  return one;
}

std::string configPath() {
  const char* path = std::getenv("PINGLOOM_FAKE_VERBS");
  return path == nullptr ? "" : path;
}

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

void copyText(char* into, std::size_t size, const std::string& text) {
  std::strncpy(into, text.c_str(), size - 1);
}

// REQUIRES the lock.
void refresh(Registry& all) {
  const std::string path = configPath();
  const std::string text = path.empty() ? "" : contentOf(path);
  if (text == all.text) return;
  all.text = text;
  for (auto& device : all.devices) all.former.push_back(std::move(device));
  all.devices.clear();
  for (const DeviceConfig& config : parseConfig(text)) {
    all.devices.push_back(std::make_unique<Device>(config, path));
  }
}

}  // namespace

std::recursive_mutex& bigLock() {
  static std::recursive_mutex lock;
  return lock;
}

std::int64_t monotonicNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

Device::Device(const DeviceConfig& given, const std::string& config_path)
    : ibv_device(), config(given) {
  node_type = IBV_NODE_CA;
  transport_type = IBV_TRANSPORT_IB;
  copyText(name, sizeof name, config.name);
  copyText(dev_name, sizeof dev_name, "uverbs-" + config.name);
  copyText(dev_path, sizeof dev_path, config_path);  // something that is there
  copyText(ibdev_path, sizeof ibdev_path, config.sysfs);
}

std::uint64_t Device::ticksAt(std::int64_t mono_nanos) const {
  __extension__ using Wide = unsigned __int128;
  const auto ticks =
      static_cast<Wide>(static_cast<std::uint64_t>(mono_nanos)) * config.clock_khz / 1'000'000;
  return (static_cast<std::uint64_t>(ticks) + config.offset) & config.mask();
}

PortConfig* Device::port(std::uint8_t number) {
  for (PortConfig& one : config.ports) {
    if (one.number == number) return &one;
  }
  return nullptr;
}

bool Device::hasGid(std::uint8_t port_number, const GidBytes& gid) {
  const PortConfig* at = port(port_number);
  return at != nullptr && std::any_of(at->gids.begin(), at->gids.end(),
                                      [&](const GidConfig& one) { return one.gid == gid; });
}

std::vector<Device*> currentDevices() {
  const Lock lock(bigLock());
  Registry& all = registry();
  refresh(all);
  std::vector<Device*> present;
  for (const auto& device : all.devices) {
    if (!device->removed) present.push_back(device.get());
  }
  return present;
}

Device* deviceNamed(const std::string& name) {
  const Lock lock(bigLock());
  Registry& all = registry();
  refresh(all);
  for (const auto& device : all.devices) {
    if (device->config.name == name) return device.get();
  }
  return nullptr;
}

void applyNewFaults() {
  std::string text = contentOf(configPath() + ".faults");
  {
    const Lock lock(bigLock());
    Registry& all = registry();
    const std::size_t end = text.rfind('\n') + 1;  // whole lines only; 0 where there is none
    const std::size_t begin = std::min(all.faults_read, end);
    all.faults_read = end;
    text = text.substr(begin, end - begin);
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) applyFault(line);
}

}  // namespace fake
