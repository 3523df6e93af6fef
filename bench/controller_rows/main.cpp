// Measures rows per second from ZeroMQ into the ledger, the grid and Redis. Synthetic agents in
// this process feed a controller's process, which has its own redis-server. The machine's limits
// are measured in the same run: Redis alone with the same rows, and ZeroMQ alone with the same
// bytes.
#include <boost/program_options.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "common/duration.h"
#include "common/program.h"
#include "controller/redis/connection.h"
#include "controller/redis/key_updates.h"
#include "controller/redis/resp.h"
#include "fleet.h"
#include "machine_limits.h"
#include "scene.h"
#include "shared/clocks.h"
#include "shared/figures.h"
#include "shared/wait.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom;
using namespace pingloom::bench;

constexpr Nanos kMaxDelay = 2 * kWindow;  // Redis forgets a source after three windows

// Waits until the last row of every source in Redis is the one of the last window.
Status waitVisible(const Scene& scene, const Shape& shape, std::uint64_t last_window) {
  controller::RedisTarget target;
  target.path = scene.redisSocket();
  auto connection = controller::RedisConnection::connect(target, {});
  if (!connection) return tl::unexpected(connection.error());
  const std::string expected =
      "\"start\":\"" + formatUtc(static_cast<Nanos>(last_window) * kWindow) + "\"";
  const std::string field = destinationOf(shape.destinations - 1).text();
  std::uint32_t agent = 0;
  Status failed;
  auto visible = waitUntil("the last window of all sources in Redis", kMaxDelay, [&] {
    for (; agent < shape.agents; ++agent) {
      const std::string key = controller::RedisKeys::latestKey(kProbe, sourceOf(agent).text());
      controller::Commands question;
      question.add(std::string_view("HMGET"), key, field);
      const auto row = (*connection)->list(question);
      if (!row) failed = tl::unexpected(row.error());
      if (!row || row->empty() || row->front().find(expected) == std::string::npos) break;
    }
    return !failed || agent == shape.agents;
  });
  if (!failed) return failed;
  if (visible) return {};
  return makeError(sourceOf(agent).text(), visible.error().text() + " (" + expected + ")");
}

// Returns how many rows Redis alone takes in a second.
Result<double> measureLimits(const Shape& shape, Figures& figures) {
  const auto redis = redisAlone(shape);
  if (!redis) return tl::unexpected(redis.error());
  const auto zeromq = zeromqAlone(shape);
  if (!zeromq) return tl::unexpected(zeromq.error());
  figures.add("limit: Redis alone", "rows/s", redis->rows_per_second);
  figures.add("limit: Redis alone, CPU of client and server", "s per million rows",
              redis->cpu_seconds_per_million_rows);
  figures.add("limit: ZeroMQ alone", "rows/s", zeromq->rows_per_second);
  figures.add("limit: ZeroMQ alone, CPU of sender and receiver", "s per million rows",
              zeromq->cpu_seconds_per_million_rows);
  return redis->rows_per_second;
}

// `rate`: rows per second that are offered; 0: as many as are taken.
Status measure(const std::string& controller, const Shape& shape, double rate, double redis_alone,
               Figures& figures) {
  auto scene = Scene::start(controller, shape);
  if (!scene) return tl::unexpected(scene.error());
  auto fleet = Fleet::connect((*scene)->control(), shape);
  if (!fleet) return tl::unexpected(fleet.error());
  const Usage controller_before = (*scene)->controller();
  const Usage redis_before = (*scene)->redis();
  const Nanos fleet_before = processCpu();
  const Nanos started = monotonicNow();
  if (auto status = (*fleet)->deliver(rate); !status) return status;
  const Nanos committed = monotonicNow() - started;
  if (auto status = waitVisible(**scene, shape, (*fleet)->lastWindow()); !status) return status;
  const Nanos visible = monotonicNow() - started;
  const Usage controller_after = (*scene)->controller();
  const Nanos redis_cpu = (*scene)->redis().cpu - redis_before.cpu;
  const auto rows = static_cast<double>(shape.rows());
  const auto per_million = [&](Nanos cpu) { return toSeconds(cpu) / (rows / 1e6); };
  const double growth = (static_cast<double>(controller_after.resident_bytes) -
                         static_cast<double>(controller_before.resident_bytes)) /
                        static_cast<double>(shape.pairs());
  figures.add("committed", "rows/s", rows / toSeconds(committed));
  figures.add("visible in Redis", "rows/s", rows / toSeconds(visible));
  if (rate == 0) {
    figures.add("visible in Redis, of what Redis alone takes", "",
                rows / toSeconds(visible) / redis_alone);
  }
  figures.add("share of all windows that Redis was given", "%",
              100 * static_cast<double>((*scene)->hsetCommands()) * shape.destinations / rows);
  figures.add("history", "bytes per row", static_cast<double>((*scene)->historyBytes()) / rows);
  figures.add("controller's CPU", "s per million rows",
              per_million(controller_after.cpu - controller_before.cpu));
  figures.add("redis-server's CPU", "s per million rows", per_million(redis_cpu));
  figures.add("load generator's CPU", "s per million rows",
              per_million(processCpu() - fleet_before));
  figures.add("controller's memory", "bytes per pair", growth);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  std::uint32_t runs = 5;
  double rate = 0;
  std::string controller = builtController();
  po::options_description options("Options");
  options.add_options()("agents", po::value(&shape.agents)->default_value(shape.agents),
                        "how many agents deliver")(
      "destinations", po::value(&shape.destinations)->default_value(shape.destinations),
      "how many destinations each agent has")("rounds",
                                              po::value(&shape.rounds)->default_value(shape.rounds),
                                              "how many windows each agent delivers")(
      "runs", po::value(&runs)->default_value(runs), "how many runs to make")(
      "rate", po::value(&rate)->default_value(rate),
      "rows per second to offer; 0 offers as many as are taken")(
      "controller", po::value(&controller)->default_value(controller), "the controller to start");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse({"controller_rows", "controller_rows [OPTIONS]",
                                        "Rows per second through the controller."},
                                       arguments, options, {}, values)) {
    return *code;
  }
  std::printf(
      "%u agents, %u destinations each, %u windows of %s: %llu rows, %u samples in each of 4 "
      "parts\n",
      shape.agents, shape.destinations, shape.rounds, formatDuration(kWindow).c_str(),
      static_cast<unsigned long long>(shape.rows()), kSamplesPerPart);
  Figures figures;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const auto redis_alone = measureLimits(shape, figures);
    const Status status = redis_alone ? measure(controller, shape, rate, *redis_alone, figures)
                                      : Status(tl::unexpected(redis_alone.error()));
    if (!status) {
      std::cerr << "controller_rows: " << status.error().text() << "\n";
      return 1;
    }
  }
  figures.print();
  return 0;
}
