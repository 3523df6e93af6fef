// Publishes the agent's own figures and the latest results of its pings on metric pages, for
// collectors. A pair has seven slots; pairs beyond kMaxPairs have none. One thread.
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

  // `socket` belongs to this agent's page service. REQUIRES: the service is running, and `work`
  // outlives this.
  OwnPages(std::filesystem::path socket, const WorkList& work)
      : socket_(std::move(socket)), work_(work) {
    restart();
  }

  // Starts over because other pairs are probed from now on, and removed pairs must disappear.
  void restart();
  // Shows a window of all paths together or of the only path. Windows of one path of several are
  // not shown, nor the last windows of removed pairs.
  void add(const probe::ClosedWindow& window);
  void set(const Figures& figures);

 private:
  // Follows a counter that another component owns.
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
  std::map<std::pair<std::string, std::string>, Followed> followed_;  // keyed by name and protocol
  std::map<std::string, Gauge> shown_;                                // keyed by name
};

}  // namespace pingloom::agent
