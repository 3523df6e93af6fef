#include "controller/past_rows.h"

#include <algorithm>
#include <cmath>

#include "controller/batch_frame.h"
#include "controller/report_reader.h"
#include "controller/state.h"
#include "wire/distribution_codec.h"

namespace pingloom::controller {
namespace {

constexpr std::array<Summary Row::*, 4> kParts = {&Row::network, &Row::responder, &Row::prober,
                                                  &Row::rtt};
constexpr std::array<std::uint32_t Row::*, 8> kCounts = {
    &Row::sent,        &Row::received, &Row::lost,      &Row::refused,
    &Row::unreachable, &Row::ack_lost, &Row::duplicate, &Row::late};

// How the bytes of a row begin whose destination this is: field 1, as every agent writes it first.
std::string prefixOf(const IpAddress& destination) {
  const std::string address = destination.wire();
  return std::string("\x0a") + static_cast<char>(address.size()) + address;
}

void takeHead(const PastReport& report, const wire::Report& head, SourceRows& rows) {
  rows.window_start_utc = report.start_utc;
  rows.window = report.window;
  rows.clock = static_cast<ClockSource>(head.clock());
  rows.device = head.device();
}

Rows* rowsOf(SourceRows& source, const ProbeGrid& grid, std::uint32_t path) {
  if (path == 0) return &source.rows;
  if (path > grid.paths()) return nullptr;  // the probe had more paths then
  source.paths.resize(grid.paths());
  auto& rows = source.paths[path - 1];
  auto made = rows == nullptr ? std::make_shared<Rows>(grid.destinations.size())
                              : std::make_shared<Rows>(*rows);
  Rows* const raw = made.get();
  rows = std::move(made);
  return raw;
}

States statesOf(const Rows& rows) {
  States states(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].sent != 0) states[i] = pastState(rows[i]);
  }
  return states;
}

}  // namespace

PairState pastState(const Row& row) {
  return deriveState(row, {.source_known = true, .source_alive = true});
}

std::shared_ptr<const SourceSnapshot> pastSnapshot(const ProbeGrid& grid, const IpAddress& source,
                                                   std::span<const PastReport> reports) {
  auto made = std::make_shared<SourceRows>();
  made->rows.resize(grid.destinations.size());
  ReportView view;
  bool found = false;
  for (const PastReport& report : reports) {
    if (!view.read(report.report)) continue;
    const auto head = readHead(view.head());
    if (!head || head->source != source || head->protocol != grid.spec.protocol) continue;
    Rows* const rows = rowsOf(*made, grid, report.path);
    if (rows == nullptr) continue;
    takeHead(report, view.head(), *made);
    found = true;
    for (std::size_t i = 0; i < view.rows().size(); ++i) {
      const auto message = view.row(i);
      IpAddress destination;
      Row row;
      if (!message || !readRow(**message, destination, row)) continue;
      const auto at =
          std::lower_bound(grid.destinations.begin(), grid.destinations.end(), destination);
      if (at == grid.destinations.end() || *at != destination) continue;
      (*rows)[static_cast<std::size_t>(at - grid.destinations.begin())] = row;
    }
  }
  if (!found) return nullptr;
  auto snapshot = std::make_shared<SourceSnapshot>();
  snapshot->states = statesOf(made->rows);
  for (const auto& rows : made->paths) {
    snapshot->path_states.push_back(rows == nullptr ? States() : statesOf(*rows));
  }
  snapshot->rows = std::move(made);
  return snapshot;
}

PastPair::PastPair(const IpAddress& destination) : prefix_(prefixOf(destination)) {}

void PastPair::add(const PastReport& report) {
  ReportView view;
  if (!view.read(report.report) || !readHead(view.head())) return;
  const auto found =
      std::find_if(view.rows().begin(), view.rows().end(),
                   [this](std::string_view row) { return row.starts_with(prefix_); });
  if (found == view.rows().end()) return;
  const auto message = view.row(static_cast<std::size_t>(found - view.rows().begin()));
  IpAddress destination;
  Row row;
  if (!message || !readRow(**message, destination, row)) return;
  if (windows_++ == 0) first_start_utc_ = report.start_utc;
  takeHead(report, view.head(), last_);
  for (const auto count : kCounts) row_.*count += row.*count;
  for (std::size_t i = 0; i < kAnomalies; ++i) row_.anomalous[i] += row.anomalous[i];
  const wire::Row& in = **message;
  const std::array<const wire::SampleSet*, 4> sets = {&in.network(), &in.responder(), &in.prober(),
                                                      &in.rtt()};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (const auto part = wire::decode(*sets[i])) parts_[i].merge(*part);
  }
  if (row.jitter_ns) {
    jitter_sum_ += static_cast<double>(*row.jitter_ns) * row.received;
    jitter_count_ += row.received;
  }
}

SourceRows PastPair::source() const {
  SourceRows made = last_;
  made.window_start_utc = first_start_utc_;
  made.window = last_.endUtc() - first_start_utc_;
  return made;
}

Row PastPair::row() const {
  Row made = row_;
  for (std::size_t i = 0; i < kParts.size(); ++i) made.*kParts[i] = parts_[i].summary();
  if (jitter_count_ > 0) {
    made.jitter_ns =
        static_cast<std::uint64_t>(std::llround(jitter_sum_ / static_cast<double>(jitter_count_)));
  }
  return made;
}

void PastPair::clear() {
  windows_ = 0;
  row_ = {};
  for (Distribution& part : parts_) part.clear();
  jitter_sum_ = 0;
  jitter_count_ = 0;
}

}  // namespace pingloom::controller
