#include "machine_limits.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "controller/model/row_json.h"
#include "controller/redis/connection.h"
#include "controller/redis/embedded.h"
#include "controller/redis/store.h"
#include "fleet.h"

namespace pingloom::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kEndpointBytes = 128;

double ownCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Limit limitOf(std::uint64_t rows, Nanos took, double cpu_seconds) {
  const auto count = static_cast<double>(rows);
  return {count / (static_cast<double>(took) / 1e9), cpu_seconds / (count / 1e6)};
}

std::string exampleRow() {
  controller::Row row;
  row.sent = row.received = kSamplesPerPart;
  for (Summary* part : {&row.network, &row.responder, &row.prober, &row.rtt}) {
    *part = {kSamplesPerPart, 9'012, 10'123, 10'100, 11'200, 11'210, 11'240};
  }
  row.jitter_ns = 1'023;
  controller::SourceRows source;
  source.window_start_utc = utcNow() / kWindow * kWindow;
  source.window = kWindow;
  source.device = "eth0";
  std::string json;
  appendRowJson({}, source, row, PairState::kOk, json);
  return json;
}

// The HSET of one source.
std::string hsetOf(const Shape& shape, std::uint32_t agent, const std::string& value) {
  controller::Commands commands;
  commands.begin(2 + 2 * std::size_t{shape.destinations});
  commands.argument(std::string_view("HSET"));
  commands.argument(controller::RedisStore::latestKey(kProbe, sourceOf(agent).text()));
  for (std::uint32_t i = 0; i < shape.destinations; ++i) {
    commands.argument(destinationOf(i).text());
    commands.argument(value);
  }
  return commands.bytes();
}

[[noreturn]] void dropEverything(int port_pipe) {
  zmq::context_t context;
  zmq::socket_t router(context, zmq::socket_type::router);
  router.bind("tcp://127.0.0.1:*");
  std::string endpoint = router.get(zmq::sockopt::last_endpoint);
  endpoint.resize(kEndpointBytes);
  (void)!::write(port_pipe, endpoint.data(), endpoint.size());
  zmq::message_t route;
  zmq::message_t frame;
  for (;;) {
    (void)router.recv(route);
    (void)router.recv(frame);
    // The last batch of each agent is answered, so that the sender knows it arrived.
    if (frame.size() == 1) {
      router.send(route, zmq::send_flags::sndmore);
      router.send(zmq::const_buffer());
    }
  }
}

Nanos sendAll(const Shape& shape, const char* endpoint, double& cpu_seconds) {
  const std::string rows = prebuiltRows(shape);
  zmq::context_t context;
  std::vector<zmq::socket_t> sockets;
  for (std::uint32_t i = 0; i < shape.agents; ++i) {
    sockets.emplace_back(context, zmq::socket_type::dealer);
    sockets.back().connect(endpoint);
  }
  const double cpu_before = ownCpuSeconds();
  const Nanos started = monotonicNow();
  for (std::uint32_t round = 0; round < shape.rounds; ++round) {
    for (std::uint32_t i = 0; i < shape.agents; ++i) {
      sockets[i].send(zmq::buffer(batchMessage(rows, i, round + 1, round)));
    }
  }
  for (zmq::socket_t& socket : sockets) socket.send(zmq::str_buffer("x"));
  for (zmq::socket_t& socket : sockets) {
    zmq::message_t answer;
    (void)socket.recv(answer);
  }
  const Nanos took = monotonicNow() - started;
  cpu_seconds = ownCpuSeconds() - cpu_before;
  return took;
}

}  // namespace

Result<Limit> redisAlone(const Shape& shape) {
  std::string folder = "/tmp/pingloom-bench-redis.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return makeErrnoError(folder, "cannot create", errno);
  auto redis =
      controller::EmbeddedRedis::start({.socket = folder + "/redis.sock", .folder = folder});
  if (!redis) return tl::unexpected(redis.error());
  controller::RedisTarget target;
  target.path = folder + "/redis.sock";
  auto connection = controller::RedisConnection::connect(target, {});
  for (int i = 0; i < 200 && !connection; ++i) {
    std::this_thread::sleep_for(20ms);
    connection = controller::RedisConnection::connect(target, {});
  }
  if (!connection) return tl::unexpected(connection.error());
  const std::string value = exampleRow();
  std::vector<std::string> hsets;
  for (std::uint32_t i = 0; i < shape.agents; ++i) hsets.push_back(hsetOf(shape, i, value));
  const double cpu_before = ownCpuSeconds() + usageOf((*redis)->pid()).cpu_seconds;
  const Nanos started = monotonicNow();
  for (std::uint32_t round = 0; round < shape.rounds; ++round) {
    for (const std::string& hset : hsets) {
      if (auto status = (*connection)->submit(hset, 1); !status) {
        return tl::unexpected(status.error());
      }
    }
  }
  if (auto status = (*connection)->drain(); !status) return tl::unexpected(status.error());
  const Nanos took = monotonicNow() - started;
  const double cpu = ownCpuSeconds() + usageOf((*redis)->pid()).cpu_seconds - cpu_before;
  redis->reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return limitOf(shape.rows(), took, cpu);
}

Result<Limit> zeromqAlone(const Shape& shape) {
  int ends[2] = {};
  if (pipe(ends) != 0) return makeErrnoError("pipe", "cannot create", errno);
  const pid_t child = fork();
  if (child == 0) dropEverything(ends[1]);
  char endpoint[kEndpointBytes] = {};
  (void)!::read(ends[0], endpoint, sizeof endpoint);
  double cpu = 0;
  const Nanos took = sendAll(shape, endpoint, cpu);
  cpu += usageOf(child).cpu_seconds;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return limitOf(shape.rows(), took, cpu);
}

}  // namespace pingloom::bench
