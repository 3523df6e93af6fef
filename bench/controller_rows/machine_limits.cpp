#include "machine_limits.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>
#include <zmq.hpp>

#include "controller/model/row_json.h"
#include "controller/redis/connection.h"
#include "controller/redis/embedded.h"
#include "controller/redis/key_updates.h"
#include "fleet.h"
#include "shared/child.h"
#include "shared/clocks.h"
#include "shared/wait.h"

namespace pingloom::bench {
namespace {

constexpr int kMaxSilenceMs = 30'000;

constexpr std::size_t kEndpointBytes = 128;

Limit limitOf(std::uint64_t rows, Nanos took, Nanos cpu) {
  const auto count = static_cast<double>(rows);
  return {count / toSeconds(took), toSeconds(cpu) / (count / 1e6)};
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
  controller::RowJson({}, source).append(row, PairState::kOk, json);
  return json;
}

// Makes the HSET of one source.
std::string hsetOf(const Shape& shape, std::uint32_t agent, const std::string& value) {
  controller::Commands commands;
  commands.begin(2 + 2 * std::size_t{shape.destinations});
  commands.argument(std::string_view("HSET"));
  commands.argument(controller::RedisKeys::latestKey(kProbe, sourceOf(agent).text()));
  for (std::uint32_t i = 0; i < shape.destinations; ++i) {
    commands.argument(destinationOf(i).text());
    commands.argument(value);
  }
  return commands.bytes();
}

// Runs in a child process, which the parent kills.
int dropEverything(int port_pipe) {
  zmq::context_t context;
  zmq::socket_t router(context, zmq::socket_type::router);
  router.bind("tcp://127.0.0.1:*");
  std::string endpoint = router.get(zmq::sockopt::last_endpoint);
  endpoint.resize(kEndpointBytes);
  if (::write(port_pipe, endpoint.data(), kEndpointBytes) != kEndpointBytes) return 1;
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

struct Spent {
  Nanos time = 0;
  Nanos cpu = 0;
};

Result<Spent> sendAll(const Shape& shape, std::vector<zmq::socket_t>& sockets) {
  const std::string rows = prebuiltRows(shape);
  const Nanos cpu_before = processCpu();
  const Nanos started = monotonicNow();
  for (std::uint32_t round = 0; round < shape.rounds; ++round) {
    for (std::uint32_t i = 0; i < shape.agents; ++i) {
      if (!sockets[i].send(zmq::buffer(batchMessage(rows, i, round + 1, round)))) {
        return makeError("ZeroMQ alone", "a batch was not sent");
      }
    }
  }
  for (zmq::socket_t& socket : sockets) (void)socket.send(zmq::str_buffer("x"));
  for (zmq::socket_t& socket : sockets) {
    zmq::message_t answer;
    if (!socket.recv(answer)) return makeError("ZeroMQ alone", "the last batch was not answered");
  }
  return Spent{monotonicNow() - started, processCpu() - cpu_before};
}

Result<Spent> deliverTo(const char* endpoint, const Shape& shape) {
  zmq::context_t context;
  std::vector<zmq::socket_t> sockets;
  for (std::uint32_t i = 0; i < shape.agents; ++i) {
    zmq::socket_t& socket = sockets.emplace_back(context, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::sndtimeo, kMaxSilenceMs);
    socket.set(zmq::sockopt::rcvtimeo, kMaxSilenceMs);
    socket.connect(endpoint);
  }
  return sendAll(shape, sockets);
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
  (void)waitUntil("Redis", kPatience, [&] {
    if (!connection) connection = controller::RedisConnection::connect(target, {});
    return connection.has_value();
  });
  if (!connection) return tl::unexpected(connection.error());
  const std::string value = exampleRow();
  std::vector<std::string> hsets;
  for (std::uint32_t i = 0; i < shape.agents; ++i) hsets.push_back(hsetOf(shape, i, value));
  const Nanos cpu_before = processCpu() + usageOf((*redis)->pid()).cpu;
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
  const Nanos cpu = processCpu() + usageOf((*redis)->pid()).cpu - cpu_before;
  redis->reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return limitOf(shape.rows(), took, cpu);
}

Result<Limit> zeromqAlone(const Shape& shape) {
  Child child(dropEverything);
  char endpoint[kEndpointBytes] = {};
  if (!child.read(endpoint, sizeof endpoint)) return makeError("ZeroMQ alone", "did not start");
  const auto spent = deliverTo(endpoint, shape);
  if (!spent) return tl::unexpected(spent.error());
  return limitOf(shape.rows(), spent->time, spent->cpu + child.usage().cpu);
}

}  // namespace pingloom::bench
