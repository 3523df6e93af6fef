// Rows per second from ZeroMQ into the ledger, the grid and Redis: a controller's process with its
// own redis-server, fed by synthetic agents in this process. In the same run, what the machine
// allows: Redis alone with the same rows, ZeroMQ alone with the same bytes.
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "common/program.h"
#include "controller/redis/connection.h"
#include "controller/redis/resp.h"
#include "controller/redis/store.h"
#include "fleet.h"
#include "machine_limits.h"
#include "scene.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom;
using namespace pingloom::bench;

struct Run {
  double committed = 0;       // rows/s, the last one acknowledged
  double visible = 0;         // rows/s, the last one in Redis
  double in_redis = 0;        // of all rows: the others were overtaken by a newer window
  double history_bytes = 0;   // for a row
  double controller_cpu = 0;  // seconds for a million rows
  double redis_cpu = 0;
  double fleet_cpu = 0;
  double bytes_per_pair = 0;  // growth of the controller's resident memory
  double redis_alone = 0;
  double redis_alone_cpu = 0;
  double zeromq_alone = 0;
  double zeromq_alone_cpu = 0;
};

// Until every source's last row is the one of the last window.
Status waitVisible(const Scene& scene, const Shape& shape, std::uint64_t last_window) {
  controller::RedisTarget target;
  target.path = scene.redisSocket();
  auto connection = controller::RedisConnection::connect(target, {});
  if (!connection) return tl::unexpected(connection.error());
  const std::string expected =
      "\"start\":\"" + formatUtc(static_cast<Nanos>(last_window) * kWindow) + "\"";
  const std::string field = destinationOf(shape.destinations - 1).text();
  for (std::uint32_t agent = 0; agent < shape.agents;) {
    const auto row =
        (*connection)
            ->hashField(controller::RedisStore::latestKey(kProbe, sourceOf(agent).text()), field);
    if (!row) return tl::unexpected(row.error());
    if (row->find(expected) != std::string::npos) {
      ++agent;
    } else {
      usleep(2000);
    }
  }
  return {};
}

Result<Run> measure(const std::string& controller, const Shape& shape, double rate) {
  Run run;
  const auto redis = redisAlone(shape);
  if (!redis) return tl::unexpected(redis.error());
  const auto zeromq = zeromqAlone(shape);
  if (!zeromq) return tl::unexpected(zeromq.error());
  run.redis_alone = redis->rows_per_second;
  run.redis_alone_cpu = redis->cpu_seconds_per_million_rows;
  run.zeromq_alone = zeromq->rows_per_second;
  run.zeromq_alone_cpu = zeromq->cpu_seconds_per_million_rows;

  auto scene = Scene::start(controller, shape);
  if (!scene) return tl::unexpected(scene.error());
  auto fleet = Fleet::connect((*scene)->control(), shape);
  if (!fleet) return tl::unexpected(fleet.error());
  const Usage controller_before = usageOf((*scene)->controller());
  const Usage redis_before = usageOf((*scene)->redis());
  const Usage fleet_before = usageOf(getpid());
  const Nanos started = monotonicNow();
  if (auto status = (*fleet)->deliver(rate); !status) return tl::unexpected(status.error());
  const Nanos committed = monotonicNow() - started;
  if (auto status = waitVisible(**scene, shape, (*fleet)->lastWindow()); !status) {
    return tl::unexpected(status.error());
  }
  const Nanos visible = monotonicNow() - started;
  const Usage controller_after = usageOf((*scene)->controller());
  const double million = static_cast<double>(shape.rows()) / 1e6;
  run.committed = million * 1e6 / (static_cast<double>(committed) / 1e9);
  run.visible = million * 1e6 / (static_cast<double>(visible) / 1e9);
  run.controller_cpu = (controller_after.cpu_seconds - controller_before.cpu_seconds) / million;
  run.redis_cpu = (usageOf((*scene)->redis()).cpu_seconds - redis_before.cpu_seconds) / million;
  run.in_redis = static_cast<double>((*scene)->hsetCommands()) * shape.destinations /
                 static_cast<double>(shape.rows());
  run.history_bytes =
      static_cast<double>((*scene)->historyBytes()) / static_cast<double>(shape.rows());
  run.fleet_cpu = (usageOf(getpid()).cpu_seconds - fleet_before.cpu_seconds) / million;
  run.bytes_per_pair =
      static_cast<double>(controller_after.resident_bytes - controller_before.resident_bytes) /
      static_cast<double>(shape.pairs());
  return run;
}

void print(const char* what, const char* unit, const std::vector<Run>& runs, double Run::*value) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Run& run : runs) values.push_back(run.*value);
  std::sort(values.begin(), values.end());
  std::printf("%-46s %12.2f %12.2f %12.2f  %s\n", what, values[values.size() / 2], values.front(),
              values.back(), unit);
}

void printAll(const std::vector<Run>& runs) {
  std::printf("%-46s %12s %12s %12s\n", "", "median", "lowest", "highest");
  print("committed", "rows/s", runs, &Run::committed);
  print("visible in Redis", "rows/s", runs, &Run::visible);
  print("  share of all windows that Redis was given", "", runs, &Run::in_redis);
  print("history", "bytes per row", runs, &Run::history_bytes);
  print("  controller, CPU", "s per million rows", runs, &Run::controller_cpu);
  print("  redis-server, CPU", "s per million rows", runs, &Run::redis_cpu);
  print("  load generator, CPU", "s per million rows", runs, &Run::fleet_cpu);
  print("controller's memory, growth", "bytes per pair", runs, &Run::bytes_per_pair);
  print("limit: Redis alone", "rows/s", runs, &Run::redis_alone);
  print("  client and server, CPU", "s per million rows", runs, &Run::redis_alone_cpu);
  print("limit: ZeroMQ alone", "rows/s", runs, &Run::zeromq_alone);
  print("  sender and receiver, CPU", "s per million rows", runs, &Run::zeromq_alone_cpu);
  std::printf("a latest row is %zu bytes of the controller's memory\n", sizeof(controller::Row));
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  std::uint32_t runs = 5;
  double rate = 0;
  std::string controller =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "pingloom-controller";
  po::options_description options("Options");
  options.add_options()("agents", po::value(&shape.agents)->default_value(shape.agents))(
      "destinations", po::value(&shape.destinations)->default_value(shape.destinations),
      "of each agent")("rounds", po::value(&shape.rounds)->default_value(shape.rounds),
                       "windows of each agent; at most 60")(
      "runs", po::value(&runs)->default_value(runs))("rate", po::value(&rate)->default_value(rate),
                                                     "rows/s to offer; 0: all that is taken")(
      "controller", po::value(&controller)->default_value(controller));
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse({"controller_rows", "controller_rows [OPTIONS]",
                                        "Rows per second through the controller."},
                                       arguments, options, {}, values)) {
    return *code;
  }
  std::vector<Run> measured;
  for (std::uint32_t i = 0; i < runs; ++i) {
    std::cerr << "run " << i + 1 << " of " << runs << "\n";
    const auto run = measure(controller, shape, rate);
    if (!run) {
      std::cerr << run.error().text() << "\n";
      return 1;
    }
    measured.push_back(*run);
  }
  std::printf(
      "%u agents, %u destinations each, %u windows: %llu rows, %u samples in each of 4 parts\n",
      shape.agents, shape.destinations, shape.rounds, static_cast<unsigned long long>(shape.rows()),
      kSamplesPerPart);
  printAll(measured);
  return 0;
}
