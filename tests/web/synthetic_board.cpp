#include "synthetic_board.h"

#include <fmt/format.h>

#include <cmath>

namespace pingloom::test {
namespace {

using controller::GridPlan;
using controller::Incident;
using controller::ProbeGrid;
using controller::Row;
using controller::SourceRows;
using controller::SourceSnapshot;

constexpr std::uint32_t kRackSize = 16;

IpAddress hostAddress(std::uint32_t number) {
  return IpAddress::fromV4(0x0A000000U + (number / 200 << 8U) + number % 200 + 1);
}

// Returns a number in 0..1 that depends on the input only; the results are evenly spread.
double noise(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15U;
  seed = (seed ^ seed >> 30U) * 0xBF58476D1CE4E5B9U;
  seed = (seed ^ seed >> 27U) * 0x94D049BB133111EBU;
  return static_cast<double>((seed ^ seed >> 31U) >> 11U) * 0x1.0p-53;
}

Summary summaryAround(double median_ns, std::uint32_t count) {
  const auto at = [median_ns](double factor) {
    return static_cast<std::uint64_t>(median_ns * factor);
  };
  return {count, at(0.82), at(1.04), at(1.0), at(1.6), at(2.1), at(2.6)};
}

ProbeGrid makeProbe(const std::string& name, Protocol protocol, plan::AddressList sources,
                    plan::AddressList destinations) {
  ProbeGrid grid;
  grid.spec.name = name;
  grid.spec.protocol = protocol;
  grid.spec.interval = kSecond;
  grid.spec.port = protocol == Protocol::kTcp ? 2049 : 0;
  grid.sources = std::move(sources);
  grid.destinations = std::move(destinations);
  return grid;
}

controller::Evidence evidenceOf(const GridPlan& plan, std::uint32_t source,
                                std::uint32_t destination, PairState state, Severity severity) {
  const ProbeGrid& grid = plan.probes[0];
  const IpAddress& from = grid.sources[source];
  const IpAddress& to = grid.destinations[destination];
  return {grid.spec.name,
          from,
          to,
          plan.nameOf(from),
          plan.nameOf(to),
          state,
          severity,
          severity == Severity::kLossy ? "loss 4 %, more than 1 %"
                                       : "network_p50 2.01 ms, 205 x the mesh's median"};
}

// Returns an incident whose sentence has been the same since it was opened.
Incident incidentOf(std::uint64_t id, const controller::Culprit& culprit, Severity severity,
                    const std::string& sentence, Nanos opened) {
  Incident made;
  made.id = id;
  made.culprit = culprit;
  made.severity = severity;
  made.opened_utc = opened;
  made.updated_utc = opened;
  made.probes = {"udp"};
  made.sentence = sentence;
  made.history = {{opened, severity, sentence}};
  return made;
}

bool hasWindows(const ProbeGrid& grid) { return grid.spec.protocol != Protocol::kRdma; }

}  // namespace

SyntheticBoard::SyntheticBoard(std::uint32_t hosts) { usePlan(hosts); }

void SyntheticBoard::usePlan(std::uint32_t hosts, const std::string& first_name) {
  auto made = std::make_shared<GridPlan>();
  auto pinglist = std::make_shared<pinglist::Pinglist>();
  plan::AddressList all;
  for (std::uint32_t i = 0; i < hosts; ++i) {
    all.push_back(hostAddress(i));
    pinglist->names[all.back()] = i == 0 ? first_name : fmt::format("gpu-{:03}", i + 1);
    pinglist->hosts.push_back({pinglist->names[all.back()],
                               {{"", all.back()}},
                               {{"rack", fmt::format("r{}", i / kRackSize + 1)}}});
  }
  const plan::AddressList storage = {IpAddress::fromV4(0x0A00FF01), IpAddress::fromV4(0x0A00FF02)};
  made->generation = ++generation_;
  made->hash = 1 + hosts;
  if (hosts != 0) {
    made->probes = {makeProbe("udp", Protocol::kUdp, all, all),
                    makeProbe("gpu-to-storage", Protocol::kTcp, all, storage),
                    makeProbe("rdma", Protocol::kRdma, all, all)};
  }
  made->pinglist = std::move(pinglist);
  plan_ = std::move(made);
  states_.clear();
  for (const ProbeGrid& grid : plan_->probes) {
    states_.emplace_back(grid.sources.size() * grid.destinations.size(),
                         hasWindows(grid) ? PairState::kOk : PairState::kPending);
  }
  board_.publishPlan(plan_);
  publishStatus();
}

void SyntheticBoard::describeHost(std::uint32_t host, const std::string& name,
                                  const std::map<std::string, std::string>& labels) {
  auto made = std::make_shared<GridPlan>(*plan_);
  auto pinglist = std::make_shared<pinglist::Pinglist>(*plan_->pinglist);
  pinglist->names[hostAddress(host)] = name;
  pinglist->hosts[host].name = name;
  for (const auto& [label, value] : labels) pinglist->hosts[host].labels[label] = value;
  made->generation = ++generation_;
  made->pinglist = std::move(pinglist);
  plan_ = std::move(made);
  board_.publishPlan(plan_);
  publishAll();
}

void SyntheticBoard::publishStatus() {
  controller::ControlStatus control;
  control.started_utc = utcNow();
  control.pinglist_path = "/etc/pingloom/pinglist.yaml";
  control.pinglist_loaded_utc = utcNow();
  control.pinglist_error = pinglist_error_;
  board_.publishControl(std::make_shared<controller::ControlStatus>(control));
  controller::RedisStatus redis;
  redis.target = "unix:/run/redis.sock";
  redis.connected = true;
  board_.publishRedis(std::make_shared<controller::RedisStatus>(redis));
}

PairState& SyntheticBoard::stateAt(std::uint32_t probe, std::uint32_t source,
                                   std::uint32_t destination) {
  return states_[probe][source * plan_->probes[probe].destinations.size() + destination];
}

PairState SyntheticBoard::stateAt(std::uint32_t probe, std::uint32_t source,
                                  std::uint32_t destination) const {
  return states_[probe][source * plan_->probes[probe].destinations.size() + destination];
}

Row SyntheticBoard::rowFor(std::uint32_t probe, std::uint32_t source, std::uint32_t destination,
                           PairState state) const {
  Row row;
  if (state == PairState::kPending) return row;
  row.sent = 10;
  row.received = 10;
  const std::uint64_t seed = (std::uint64_t{probe} << 40U) + (std::uint64_t{source} << 20U) +
                             destination + (round_ << 50U);
  const bool same_rack = source / kRackSize == destination / kRackSize;
  const bool slow = source == slow_host_ || destination == slow_host_;
  const double network = (same_rack ? 4200 : 9800) * (0.9 + 0.35 * noise(seed)) +
                         (slow ? 2'000'000 : 0) + (noise(seed / 7 + 3) > 0.995 ? 60'000 : 0);
  if (state == PairState::kLoss) row.lost = 1 + static_cast<std::uint32_t>(9 * noise(seed + 1));
  if (state == PairState::kRefused) row.refused = 10;
  if (state == PairState::kUnreachable) row.unreachable = 10;
  if (state == PairState::kAgentDown) row.lost = 10;
  row.received = row.sent - row.lost - row.refused - row.unreachable;
  if (state == PairState::kAnomalous) row.anomalous[0] = 8;
  if (row.received == 0) return row;
  const bool tcp = plan_->probes[probe].spec.protocol == Protocol::kTcp;
  row.rtt = summaryAround(network + 21'000, row.received);
  row.network = summaryAround(network, row.received);
  if (!tcp) row.responder = summaryAround(12'500, row.received);
  if (!tcp) row.prober = summaryAround(8'500, row.received);
  row.jitter_ns = static_cast<std::uint64_t>(network * 0.08);
  return row;
}

void SyntheticBoard::publish(std::uint32_t probe, std::uint32_t source) {
  const ProbeGrid& grid = plan_->probes[probe];
  auto rows = std::make_shared<SourceRows>();
  rows->window = grid.spec.window;
  rows->window_index = static_cast<std::uint64_t>(utcNow() / rows->window) - 1;
  rows->window_start_utc = static_cast<Nanos>(rows->window_index) * rows->window;
  auto snapshot = std::make_shared<SourceSnapshot>();
  for (std::uint32_t destination = 0; destination < grid.destinations.size(); ++destination) {
    const bool self = grid.sources[source] == grid.destinations[destination];
    const PairState state = stateAt(probe, source, destination);
    snapshot->states.push_back(self ? std::nullopt : std::optional(state));
    if (judging_) snapshot->judged.push_back(judgedAs(probe, source, destination, state));
    rows->rows.add(self ? Row() : rowFor(probe, source, destination, state));
  }
  if (hasWindows(grid)) snapshot->rows = std::move(rows);
  board_.publishSource(probe, source, std::move(snapshot));
}

void SyntheticBoard::publishAll() {
  ++round_;
  for (std::uint32_t probe = 0; probe < plan_->probes.size(); ++probe) {
    for (std::uint32_t source = 0; source < plan_->probes[probe].sources.size(); ++source) {
      publish(probe, source);
    }
  }
}

void SyntheticBoard::publishPair(std::uint32_t probe, std::uint32_t source,
                                 std::uint32_t destination, PairState state) {
  stateAt(probe, source, destination) = state;
  publish(probe, source);
}

void SyntheticBoard::slowDown(std::uint32_t host) {
  slow_host_ = host;
  publishAll();
}

controller::Judged SyntheticBoard::judgedAs(std::uint32_t probe, std::uint32_t source,
                                            std::uint32_t destination, PairState state) const {
  const bool slow = probe == 0 && (source == slow_host_ || destination == slow_host_);
  switch (state) {
    case PairState::kOk:
    case PairState::kAnomalous:
      return {slow ? Severity::kVerySlow : Severity::kOk, 0};
    case PairState::kLoss:
      return {Severity::kLossy, 0};
    case PairState::kUnreachable:
    case PairState::kRefused:
      return {Severity::kDown, 0};
    default:
      return {};
  }
}

Incident SyntheticBoard::slowIncident(std::uint32_t host, Nanos now) const {
  const ProbeGrid& grid = plan_->probes[0];
  const auto hosts = static_cast<std::uint32_t>(grid.sources.size());
  const std::string slow = plan_->nameOf(grid.sources[host]);
  Incident made = incidentOf(
      17, {controller::CulpritKind::kHost, slow}, Severity::kVerySlow,
      slow + " is very slow in both directions: network 2.01 ms, 205 x the mesh's median",
      now - 12 * 60 * kSecond);
  made.bad_pairs = made.judged_pairs = std::uint64_t{2} * (hosts - 1);
  made.labels = {{"rack", "r1"}};
  made.history.push_back({now - 60 * kSecond, Severity::kVerySlow, made.sentence + ", worse"});
  for (std::uint32_t i = 0; i < hosts && made.evidence.size() < 4; ++i) {
    if (i == host) continue;
    made.evidence.push_back(evidenceOf(*plan_, host, i, PairState::kOk, Severity::kVerySlow));
  }
  return made;
}

Incident SyntheticBoard::lossyIncident(std::uint32_t source, std::uint32_t destination,
                                       Nanos now) const {
  const std::string from = plan_->nameOf(plan_->probes[0].sources[source]);
  const std::string to = plan_->nameOf(plan_->probes[0].destinations[destination]);
  Incident made =
      incidentOf(18, {controller::CulpritKind::kPair, from + " -> " + to}, Severity::kLossy,
                 from + " -> " + to + " loses 4 % of its pings", now - 3 * 60 * kSecond);
  made.figure = Figure::kLoss;
  made.bad_pairs = made.judged_pairs = 1;
  made.candidates = {{controller::CulpritKind::kHostSend, from}};
  made.tell = "a probe from " + from + " to another rack would tell them apart";
  made.acknowledged = {"alice", "the cable is ordered", now - 60 * kSecond};
  made.evidence = {evidenceOf(*plan_, source, destination, PairState::kLoss, Severity::kLossy)};
  return made;
}

void SyntheticBoard::judge(std::uint32_t host) {
  judging_ = true;
  const plan::AddressList& all = plan_->probes[0].sources;
  const auto hosts = static_cast<std::uint32_t>(all.size());
  const std::uint32_t source = (host + 1) % hosts;
  const std::uint32_t destination = (host + 2) % hosts;
  stateAt(0, source, destination) = PairState::kLoss;
  slowDown(host);
  const Nanos now = utcNow();
  auto verdict = std::make_shared<controller::Verdict>();
  verdict->open = {std::make_shared<Incident>(slowIncident(host, now)),
                   std::make_shared<Incident>(lossyIncident(source, destination, now))};
  verdict->silences = {{5, {{"rack", "r9"}}, now, now + kHour, "dave", "new cables"}};
  verdict->maintenance = {
      {plan_->nameOf(all[(host + 3) % hosts]), now, kNever, "carol", "new NIC", false}};
  verdict->judged_pairs = std::uint64_t{hosts} * (hosts - 1) + std::uint64_t{2} * hosts;
  verdict->oldest_window_utc = now - 12 * kSecond;
  board_.publishVerdict(std::move(verdict));
}

void SyntheticBoard::rejectPinglist(const std::string& error) {
  pinglist_error_ = error;
  publishStatus();
}

void SyntheticBoard::publishTroubles() {
  const auto hosts = static_cast<std::uint32_t>(plan_->probes[0].sources.size());
  const auto column = [this, hosts](std::uint32_t destination, PairState state) {
    for (std::uint32_t source = 0; source < hosts; ++source)
      stateAt(0, source, destination) = state;
  };
  const auto row = [this, hosts](std::uint32_t source, PairState state) {
    for (std::uint32_t i = 0; i < hosts; ++i) stateAt(0, source, i) = state;
  };
  if (hosts >= 6) {
    column(hosts - 2, PairState::kAgentDown);
    row(hosts - 3, PairState::kStale);
  }
  for (std::uint32_t i = 0; i < std::max(2U, hosts * hosts / 120); ++i) {
    const auto pick = [hosts, i](std::uint32_t salt) {
      return static_cast<std::uint32_t>(noise(i * 64 + salt) * hosts) % hosts;
    };
    stateAt(0, pick(1), pick(2)) = PairState::kLoss;
    stateAt(0, pick(3), pick(4)) = PairState::kAnomalous;
    stateAt(0, pick(5), pick(6)) = PairState::kUnreachable;
    stateAt(0, pick(7), pick(8)) = PairState::kPending;
    stateAt(1, pick(9), i % 2) = PairState::kRefused;
  }
  publishAll();
}

}  // namespace pingloom::test
