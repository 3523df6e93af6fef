// A board of three hosts and a storage address: probe "rack" is a udp mesh, "storage" goes by tcp
// from two of them to an address of each family, "fabric" is an rdma mesh with two paths.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "controller/model/board.h"

namespace pingloom::controller {

class SmallBoard {
 public:
  SmallBoard() {
    rack.spec.name = "rack";
    rack.sources = rack.destinations = {ip("10.0.0.1"), ip("10.0.0.2"), ip("10.0.0.3")};
    rack.thresholds.of[5].crit = {};  // loss
    storage.spec.name = "storage";
    storage.spec.protocol = Protocol::kTcp;
    storage.spec.port = 2049;
    storage.sources = {ip("10.0.0.1"), ip("10.0.0.2")};
    storage.destinations = {ip("10.0.9.1"), ip("fd00::9")};
    fabric.spec.name = "fabric";
    fabric.spec.protocol = Protocol::kRdma;
    fabric.sources = fabric.destinations = rack.sources;
    fabric.spec.paths = 2;
  }

  static IpAddress ip(const char* text) { return *IpAddress::parse(text); }

  void publishPlan() {
    auto pinglist = std::make_shared<pinglist::Pinglist>();
    pinglist->names[ip("10.0.0.1")] = "gpu \"one\"";
    pinglist->hosts = named_hosts;
    pinglist->warnings = {"pinglist.yaml:3:1: something is odd"};
    auto plan = std::make_shared<GridPlan>();
    plan->generation = ++generation;
    plan->hash = 0xABC;
    plan->pinglist = std::move(pinglist);
    plan->probes = {rack, storage, fabric};
    board.publishPlan(std::move(plan));
  }

  static Row measured(std::uint64_t network_ns) {
    Row row;
    row.sent = row.received = 10;
    row.network = {10,
                   network_ns - 1,
                   network_ns,
                   network_ns,
                   network_ns + 5,
                   network_ns + 9,
                   network_ns + 20};
    row.rtt = {10, 1, 2, 3, 4, 5, 6};
    return row;
  }

  static Row lossy(std::uint32_t lost) {
    Row row = measured(7000);
    row.lost = lost;
    row.received = row.sent - lost;
    return row;
  }

  // One source of "rack", 10.0.0.1: itself, ok at 5 us, three of ten lost.
  void publishFirstSource() {
    publishSource(0, 0, {Row(), measured(5000), lossy(3)},
                  {std::nullopt, PairState::kOk, PairState::kLoss});
  }

  // Publishes it again with what is judged of its pairs.
  void judgeFirstSource(const std::vector<Severity>& severities) {
    auto snapshot = std::make_shared<SourceSnapshot>(*board.source(0, 0, generation));
    for (const Severity severity : severities) snapshot->judged.push_back({severity, 0});
    board.publishSource(0, 0, std::move(snapshot));
  }

  void publishSource(std::uint32_t probe, std::uint32_t source, Rows rows,
                     std::vector<std::optional<PairState>> states) {
    auto measured_rows = std::make_shared<SourceRows>();
    measured_rows->window_index = 177;
    measured_rows->window = 10 * kSecond;
    measured_rows->window_start_utc = 1'795'230'720 * kSecond;
    measured_rows->rows = std::move(rows);
    auto snapshot = std::make_shared<SourceSnapshot>();
    snapshot->rows = std::move(measured_rows);
    snapshot->states = std::move(states);
    board.publishSource(probe, source, std::move(snapshot));
  }

  void publishReady() {
    auto redis = std::make_shared<RedisStatus>();
    redis->target = "unix:/run/redis.sock";
    redis->connected = true;
    redis->rows_written = 12;
    board.publishRedis(std::move(redis));
    auto control = std::make_shared<ControlStatus>();
    control->started_utc = kSecond;
    control->pinglist_path = "pinglist.yaml";
    control->rows_committed = 4;
    control->refused_by_reason[2] = 5;
    board.publishControl(std::move(control));
    auto hosts = std::make_shared<Hosts>();
    AgentInfo agent;
    agent.host = "one";
    agent.addresses = {ip("10.0.0.1")};
    agent.alive = agent.plan_current = true;
    agent.plan_hash = 0xABC;
    agent.incarnation = 1'795'230'720'123'456'789U;
    plan::Endpoint endpoint;
    endpoint.address = agent.addresses.front();
    endpoint.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
    endpoint.qpn = 4711;
    endpoint.device = "mlx5_0";
    endpoint.clock = ClockSource::kHardware;
    agent.endpoints = {{endpoint, 0}};
    agent.page_owners =
        std::make_shared<const PageOwners>(PageOwners{{{"queue", 41, 1000, 2, 30}}, 7});
    const auto counted = [](CounterOrigin origin, const char* name, std::uint64_t total,
                            std::vector<CounterMove> moves) {
      return HostCounter{counterNamed(origin, name).value(), total, std::move(moves)};
    };
    HostCounters counters;
    counters.since_utc = kSecond;
    const Nanos now = utcNow();
    counters.ports = {
        {"eth0", 0, {counted(CounterOrigin::kInterface, "receive_errs_total", 0, {})}},
        {"mlx5_0",
         1,
         {counted(CounterOrigin::kPort, "symbol_error_total", 1211, {{now, now, 1204}}),
          counted(CounterOrigin::kPort, "np_cnp_packets_sent_total", 9, {{now, now, 9}})}}};
    agent.counters = std::make_shared<const HostCounters>(std::move(counters));
    hosts->push_back(agent);
    board.publishHosts(std::move(hosts));
  }

  Board board;
  ProbeGrid rack;
  ProbeGrid storage;
  ProbeGrid fabric;
  std::vector<pinglist::Host> named_hosts;
  std::uint64_t generation = 0;
};

}  // namespace pingloom::controller
