// The same fleet of agents against one controller with SQLite and its own Redis, and against
// several that share a history in PostgreSQL and a Redis.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "fleet_processes.h"
#include "shared/controller_process.h"
#include "shared/figures.h"
#include "shared_redis.h"

namespace pingloom::bench {

struct ClusterOptions {
  std::uint32_t agents = 700;
  std::uint32_t rows = 200;
  std::uint32_t controllers = 3;
  Nanos window = 2 * kSecond;
  int windows = 5;
  int rounds = 1;
  int kills = 3;
  int restarts = 0;
  int upgrades = 0;
  int changes = 0;
  std::string postgres;  // the folder of its socket
};

class ClusterBench {
 public:
  explicit ClusterBench(ClusterOptions options) : options_(std::move(options)) {}
  ~ClusterBench() { end(); }
  ClusterBench(const ClusterBench&) = delete;
  ClusterBench& operator=(const ClusterBench&) = delete;
  Status run();

 private:
  using Controller = std::unique_ptr<ControllerProcess>;

  std::uint64_t pairs() const { return std::uint64_t{1} * options_.agents * options_.rows; }
  Status begin(std::size_t controllers);
  void end();
  Status drain();
  struct Cost {  // CPU seconds for a million rows
    double controllers = 0;
    double all = 0;
  };
  Result<Cost> commitRows(const std::string& who);
  Status compare();
  Status checkAll();

  // cluster_events.cpp
  Status restartAgents();
  Status killOne(int round);
  Status upgradeAll();
  Status upgradeOne(ControllerProcess& upgraded);
  Status showChanges();

  ClusterOptions options_;
  FleetShape shape_;
  std::vector<Controller> controllers_;
  std::unique_ptr<SharedRedis> redis_;  // of several controllers
  std::optional<FleetProcesses> fleet_;
  Figures figures_;
};

constexpr Nanos kMaxRecovery = 120 * kSecond;

}  // namespace pingloom::bench
