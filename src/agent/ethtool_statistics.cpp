#include "agent/ethtool_statistics.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "common/fd.h"

namespace pingloom::agent {
namespace {

// A kernel structure with a flexible array behind it, in memory that is aligned for both.
template <typename Head>
class Command {
 public:
  Command(std::uint32_t command, std::size_t payload_bytes)
      : memory_((sizeof(Head) + payload_bytes + 7) / 8) {
    head()->cmd = command;
  }
  Head* head() { return reinterpret_cast<Head*>(memory_.data()); }
  template <typename Value>
  Value payload(std::size_t index) const {
    Value value;
    std::memcpy(&value, bytes() + sizeof(Head) + index * sizeof(Value), sizeof value);
    return value;
  }

 private:
  const char* bytes() const { return reinterpret_cast<const char*>(memory_.data()); }
  std::vector<std::uint64_t> memory_;
};

// The kernel writes as many statistics as the driver has at that moment, whatever it was asked for.
// The room for more keeps a driver that just got more of them from writing beyond the memory.
std::size_t roomFor(std::size_t statistics) { return 2 * statistics + 1024; }

using NameBytes = std::array<char, ETH_GSTRING_LEN>;

std::string_view textOf(const NameBytes& name) {
  return {name.data(), ::strnlen(name.data(), name.size())};
}

}  // namespace

EthtoolCall kernelEthtool() {
  const auto socket = std::make_shared<UniqueFd>(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return [socket](const std::string& interface, void* command) {
    ifreq request{};
    if (interface.size() >= sizeof request.ifr_name) return false;
    interface.copy(request.ifr_name, interface.size());
    request.ifr_data = static_cast<char*>(command);
    return ::ioctl(socket->get(), SIOCETHTOOL, &request) == 0;
  };
}

std::size_t EthtoolStatistics::countOf(const std::string& interface) {
  Command<ethtool_sset_info> asked(ETHTOOL_GSSET_INFO, sizeof(std::uint32_t));
  asked.head()->sset_mask = 1ULL << ETH_SS_STATS;
  if (!call_(interface, asked.head()) || asked.head()->sset_mask == 0) return 0;
  return asked.payload<std::uint32_t>(0);
}

EthtoolStatistics::Watched EthtoolStatistics::watchedAmong(const std::string& interface,
                                                           std::size_t statistics) {
  Watched watched;
  watched.statistics = statistics;
  Command<ethtool_gstrings> names(ETHTOOL_GSTRINGS, roomFor(statistics) * sizeof(NameBytes));
  names.head()->string_set = ETH_SS_STATS;
  names.head()->len = static_cast<std::uint32_t>(statistics);
  if (!call_(interface, names.head())) return watched;
  const std::size_t told = std::min<std::size_t>(names.head()->len, statistics);
  for (std::size_t i = 0; i < told; ++i) {
    const auto name = names.payload<NameBytes>(i);
    if (const auto id = counterNamed(CounterOrigin::kEthtool, textOf(name))) {
      watched.at.emplace_back(i, *id);
    }
  }
  std::sort(watched.at.begin(), watched.at.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto twice = std::unique(watched.at.begin(), watched.at.end(),
                                 [](const auto& a, const auto& b) { return a.second == b.second; });
  watched.at.erase(twice, watched.at.end());
  return watched;
}

std::vector<NicCounter> EthtoolStatistics::read(const std::string& interface) {
  const std::size_t statistics = countOf(interface);
  if (statistics == 0 || statistics > kMaxStatistics) return {};
  auto found = known_.find(interface);
  if (found == known_.end() || found->second.statistics != statistics) {
    found = known_.insert_or_assign(interface, watchedAmong(interface, statistics)).first;
  }
  const Watched& watched = found->second;
  if (watched.at.empty()) return {};
  Command<ethtool_stats> values(ETHTOOL_GSTATS, roomFor(statistics) * sizeof(std::uint64_t));
  values.head()->n_stats = static_cast<std::uint32_t>(statistics);
  if (!call_(interface, values.head())) return {};
  // The driver has as many as it says now, so that values and names stay together.
  if (values.head()->n_stats != statistics) return {};
  std::vector<NicCounter> counters;
  for (const auto& [index, id] : watched.at) {
    counters.push_back({id, values.payload<std::uint64_t>(index)});
  }
  return counters;
}

void EthtoolStatistics::keepOnly(const std::vector<std::string>& interfaces) {
  std::erase_if(known_, [&interfaces](const auto& at) {
    return std::find(interfaces.begin(), interfaces.end(), at.first) == interfaces.end();
  });
}

}  // namespace pingloom::agent
