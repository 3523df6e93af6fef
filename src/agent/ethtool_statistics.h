// The watched counters among the statistics that a network interface's driver gives ethtool -S.
// One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/nic_counter.h"

namespace pingloom::agent {

// Carries out an ethtool command at an interface, and returns whether the driver did. The kernel's
// structures are in <linux/ethtool.h>. Only tests pass another one.
using EthtoolCall = std::function<bool(const std::string& interface, void* command)>;
EthtoolCall kernelEthtool();

class EthtoolStatistics {
 public:
  // Drivers with a statistic for each of many rings have thousands; those beyond are not read.
  static constexpr std::size_t kMaxStatistics = 16'384;

  explicit EthtoolStatistics(EthtoolCall call = kernelEthtool()) : call_(std::move(call)) {}

  // Returns the counters ordered by id; empty if the driver has none or does not answer.
  std::vector<NicCounter> read(const std::string& interface);
  // Forgets what is known about other interfaces.
  void keepOnly(const std::vector<std::string>& interfaces);

 private:
  // Which statistics of an interface are watched. The names are read again when their number
  // changes.
  struct Watched {
    std::size_t statistics = 0;
    std::vector<std::pair<std::size_t, CounterId>> at;
  };
  std::size_t countOf(const std::string& interface);
  Watched watchedAmong(const std::string& interface, std::size_t statistics);

  EthtoolCall call_;
  std::map<std::string, Watched> known_;
};

}  // namespace pingloom::agent
