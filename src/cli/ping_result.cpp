#include "cli/ping_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/duration.h"
#include "common/json_text.h"

namespace pingloom::cli {
namespace {

using nlohmann::ordered_json;

// Returns the values in the order in which they were added. A value above 4.29 s is alone in
// practice, and is then exact as the minimum.
std::vector<Nanos> valuesOf(const Distribution& distribution) {
  if (!distribution.exact()) {
    return std::vector<Nanos>(distribution.count(), static_cast<Nanos>(distribution.min()));
  }
  return {distribution.samples().begin(), distribution.samples().end()};
}

std::optional<Nanos> takeFirst(std::vector<Nanos>& values) {
  if (values.empty()) return std::nullopt;
  const Nanos first = values.front();
  values.erase(values.begin());
  return first;
}

// Returns the exchanges whose parts are all known.
void addSplits(const probe::PairWindow& pair, std::vector<Nanos>& rtts,
               std::vector<PingResult>& out) {
  std::vector<Nanos> responders = valuesOf(pair.responder);
  std::vector<Nanos> probers = valuesOf(pair.prober);
  for (const Nanos network : valuesOf(pair.network)) {
    PingResult result;
    result.outcome = "received";
    result.network = network;
    result.responder = takeFirst(responders);
    result.prober = takeFirst(probers);
    auto own = rtts.begin();
    if (result.responder && result.prober) {
      own = std::find(rtts.begin(), rtts.end(), network + *result.responder + *result.prober);
    }
    if (own != rtts.end()) {
      result.rtt = *own;
      rtts.erase(own);
    }
    out.push_back(result);
  }
}

void addTimes(std::string& text, std::string_view what, std::optional<Nanos> time) {
  if (!time) return;
  text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, humanNanos(*time));
}

ordered_json summaryJson(const Distribution& distribution) {
  const Summary summary = distribution.summary();
  return {{"min", summary.min}, {"mean", summary.mean}, {"p50", summary.p50},
          {"p95", summary.p95}, {"p99", summary.p99},   {"max", summary.max}};
}

}  // namespace

std::vector<PingResult> resultsOf(const probe::PairWindow& pair) {
  std::vector<PingResult> out;
  std::vector<Nanos> rtts = valuesOf(pair.rtt);
  addSplits(pair, rtts, out);
  for (std::uint32_t i = 0; i < pair.ack_lost; ++i) {
    PingResult result;
    result.outcome = "received";
    result.ack_lost = true;
    result.rtt = takeFirst(rtts);
    out.push_back(result);
  }
  for (std::size_t reason = 0; reason < kAnomalies; ++reason) {
    for (std::uint32_t i = 0; i < pair.anomalous[reason]; ++i) {
      PingResult result;
      result.outcome = "received";
      result.anomaly = static_cast<Anomaly>(reason);
      if (result.anomaly == Anomaly::kNoTimestamp) result.rtt = takeFirst(rtts);
      out.push_back(result);
    }
  }
  // Nothing else was received. A count that is still unexplained is shown without times.
  while (out.size() < pair.received) out.push_back({"received", {}, false, {}, {}, {}, {}});
  const std::pair<std::uint32_t, std::string_view> failures[] = {
      {pair.lost, "lost"}, {pair.refused, "refused"}, {pair.unreachable, "unreachable"}};
  for (const auto& [count, outcome] : failures) {
    for (std::uint32_t i = 0; i < count; ++i) out.push_back({outcome, {}, false, {}, {}, {}, {}});
  }
  return out;
}

std::string lineOf(const PingResult& result) {
  if (result.outcome != "received") return std::string(result.outcome);
  std::string times;
  addTimes(times, "network", result.network);
  addTimes(times, "responder", result.responder);
  addTimes(times, "prober", result.prober);
  addTimes(times, "rtt", result.rtt);
  if (result.ack_lost) times += " (no ACK: the split is not known)";
  if (result.anomaly) {
    times += fmt::format("{}anomalous: {}", times.empty() ? "" : ", ",
                         kAnomalyNames[static_cast<std::size_t>(*result.anomaly)]);
  }
  return times;
}

std::string jsonOf(const PingResult& result) {
  ordered_json json = {{"outcome", result.outcome}};
  if (result.ack_lost) json["ack_lost"] = true;
  if (result.anomaly) {
    json["anomalous"] = kAnomalyNames[static_cast<std::size_t>(*result.anomaly)];
  }
  const std::pair<const char*, std::optional<Nanos>> times[] = {{"network_ns", result.network},
                                                                {"responder_ns", result.responder},
                                                                {"prober_ns", result.prober},
                                                                {"rtt_ns", result.rtt}};
  for (const auto& [name, time] : times) {
    if (time) json[name] = *time;
  }
  return jsonLine(json);
}

void PingSummary::add(const PingResult& result) {
  ++sent_;
  received_ += result.outcome == "received" ? 1 : 0;
  lost_ += result.outcome == "lost" ? 1 : 0;
  refused_ += result.outcome == "refused" ? 1 : 0;
  unreachable_ += result.outcome == "unreachable" ? 1 : 0;
  ack_lost_ += result.ack_lost ? 1 : 0;
  if (result.anomaly) ++anomalous_[static_cast<std::size_t>(*result.anomaly)];
  const auto keep = [](Distribution& all, std::optional<Nanos> time) {
    if (time) all.add(static_cast<std::uint64_t>(*time));
  };
  keep(network_, result.network);
  keep(responder_, result.responder);
  keep(prober_, result.prober);
  keep(rtt_, result.rtt);
}

void PingSummary::addReplies(std::uint32_t late, std::uint32_t duplicate) {
  late_ += late;
  duplicate_ += duplicate;
}

std::string PingSummary::text() const {
  const auto percent = sent_ == 0 ? 0.0 : 100.0 * static_cast<double>(lost_) / sent_;
  std::string text =
      fmt::format("{} sent, {} received, {} lost ({:.3g} %)", sent_, received_, lost_, percent);
  const auto also = [&](std::uint64_t count, std::string_view what) {
    if (count != 0) text += fmt::format(", {} {}", count, what);
  };
  also(refused_, "refused");
  also(unreachable_, "unreachable");
  also(ack_lost_, "without ACK");
  also(late_, "late");
  also(duplicate_, "duplicate");
  also(skipped_, "skipped");
  for (std::size_t reason = 0; reason < kAnomalies; ++reason) {
    also(anomalous_[reason], kAnomalyNames[reason]);
  }
  text += "\n";
  if (rtt_.count() == 0) return text;
  text +=
      fmt::format("{:<10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "", "min", "mean", "p50", "p99", "max");
  const auto row = [&](std::string_view name, const Distribution& distribution) {
    if (distribution.count() == 0) return;
    const Summary all = distribution.summary();
    text += fmt::format("{:<10}", name);
    for (const std::uint64_t value : {all.min, all.mean, all.p50, all.p99, all.max}) {
      text += fmt::format("{:>10}", humanNanos(static_cast<Nanos>(value)));
    }
    text += "\n";
  };
  row("network", network_);
  row("responder", responder_);
  row("prober", prober_);
  row("rtt", rtt_);
  return text;
}

std::string PingSummary::json() const {
  ordered_json anomalous = ordered_json::object();
  for (std::size_t reason = 0; reason < kAnomalies; ++reason) {
    if (anomalous_[reason] != 0) anomalous[std::string(kAnomalyNames[reason])] = anomalous_[reason];
  }
  ordered_json json = {{"sent", sent_},
                       {"received", received_},
                       {"lost", lost_},
                       {"refused", refused_},
                       {"unreachable", unreachable_},
                       {"ack_lost", ack_lost_},
                       {"duplicate", duplicate_},
                       {"late", late_},
                       {"skipped", skipped_},
                       {"anomalous", anomalous}};
  const std::pair<const char*, const Distribution*> parts[] = {{"network_ns", &network_},
                                                               {"responder_ns", &responder_},
                                                               {"prober_ns", &prober_},
                                                               {"rtt_ns", &rtt_}};
  for (const auto& [name, distribution] : parts) {
    if (distribution->count() != 0) json[name] = summaryJson(*distribution);
  }
  return jsonLine(ordered_json{{"summary", json}});
}

}  // namespace pingloom::cli
