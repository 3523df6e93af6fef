// The agent as an application of its own metric pages: its figures, and the last results of its
// pings, for collectors. A pair has seven slots; pairs beyond kMaxPairs have none. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <pingloom/pages.hpp>
#include <string>
#include <tuple>

#include "agent/metrics.h"
#include "agent/work.h"
#include "common/address.h"
#include "probe/window.h"

namespace pingloom::agent {

class OwnPages {
 public:
  static constexpr std::size_t kMaxPairs = 10'000;  // 139 pages

  // `socket`: of this agent's page service, which is running. `work` outlives the pages.
  OwnPages(std::filesystem::path socket, const WorkList& work)
      : socket_(std::move(socket)), work_(work) {
    restart();
  }

  // Other pairs are probed from now on: those that are no more shall not stay.
  void restart();
  // Of all paths together, or the only one; windows of single paths are not shown, nor the last
  // ones of pairs that are not probed any more.
  void add(const probe::ClosedWindow& window);
  void set(const Figures& figures);

 private:
  // A counter of somebody else's, followed.
  class Followed {
   public:
    explicit Followed(Counter counter) : counter_(counter) {}
    void set(std::uint64_t value) { counter_.add(value - std::exchange(last_, value)); }

   private:
    Counter counter_;
    std::uint64_t last_ = 0;
  };
  struct Pair {
    Counter sent, received, anomalous;
    Gauge network_p50, network_p99, rtt_p50, rtt_p99;
  };

  Pair makePair(const plan::Assignment& assignment, const IpAddress& destination);
  void follow(const MetricOptions& options, std::uint64_t value);
  void show(const std::string& name, const char* help, std::size_t value);

  bool probed(const plan::Assignment& assignment, const IpAddress& destination) const;

  const std::filesystem::path socket_;
  const WorkList& work_;
  std::unique_ptr<Pages> pages_;
  std::map<std::tuple<std::string, IpAddress, IpAddress>, Pair> pairs_;
  std::map<std::pair<std::string, std::string>, Followed> followed_;  // name and protocol
  std::map<std::string, Gauge> shown_;                                // by name
};

}  // namespace pingloom::agent
