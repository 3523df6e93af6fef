// Reads the watched counters of the RDMA ports and network interfaces that the agent's addresses
// use: from sysfs, and from ethtool where a driver has them. What cannot be read is absent, and
// never keeps the rest from being read. One thread, which may wait for a device: the reader belongs
// off the threads that probe. Bounds: CounterPlaces', kMaxNicPorts, kMaxNicCounters.
#pragma once

#include <filesystem>
#include <vector>

#include "agent/counter_places.h"
#include "agent/ethtool_statistics.h"
#include "common/nic_counter.h"

namespace pingloom::agent {

class CounterReader {
 public:
  // Only tests pass arguments.
  explicit CounterReader(std::filesystem::path sysfs = "/sys",
                         EthtoolCall ethtool = kernelEthtool())
      : sysfs_(std::move(sysfs)), ethtool_(std::move(ethtool)) {}

  // Finds the devices of these interfaces, for the readings that follow.
  void find(const std::vector<std::string>& interfaces);
  NicPorts read();

 private:
  std::vector<NicCounter> readRdmaPort(const RdmaPortPlace& place) const;
  std::vector<NicCounter> readInterface(const std::string& interface);

  const std::filesystem::path sysfs_;
  EthtoolStatistics ethtool_;
  CounterPlaces places_;
};

}  // namespace pingloom::agent
