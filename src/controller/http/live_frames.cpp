#include "controller/http/live_frames.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "controller/http/cells.h"
#include "http/json_text.h"

namespace pingloom::controller {
namespace {

static_assert(std::endian::native == std::endian::little, "messages are written by memcpy");

using http::appendJsonNumber;
using http::appendJsonString;

void appendAddresses(std::string& out, std::string_view key, const plan::AddressList& list) {
  appendJsonString(out, key);
  char separator = '[';
  out += ':';
  for (const IpAddress& address : list) {
    out += separator;
    appendJsonString(out, address.text());
    separator = ',';
  }
  out += list.empty() ? "[]" : "]";
}

void appendThresholds(std::string& out, const pinglist::Thresholds& thresholds) {
  const auto level = [&out](std::string_view before, const std::string& text) {
    out += before;
    if (text.empty()) {
      out += "null";
    } else {
      appendJsonString(out, text);
    }
  };
  char separator = '{';
  for (std::size_t i = 0; i < thresholds.of.size(); ++i) {
    out += separator;
    appendJsonString(out, pinglist::kThresholdMetrics[i]);
    level(R"(:{"warn":)", thresholds.of[i].warn);
    level(R"(,"crit":)", thresholds.of[i].crit);
    out += '}';
    separator = ',';
  }
  out += '}';
}

void appendProbe(std::string& out, const ProbeGrid& grid) {
  const auto number = [&out](std::string_view key, std::uint64_t value) {
    appendJsonString(out, key);
    out += ':';
    appendJsonNumber(out, value);
    out += ',';
  };
  out += R"({"name":)";
  appendJsonString(out, grid.spec.name);
  out += R"(,"protocol":)";
  appendJsonString(out, name(grid.spec.protocol));
  out += ',';
  number("paths", grid.spec.paths);
  number("interval_ns", static_cast<std::uint64_t>(grid.spec.interval));
  number("timeout_ns", static_cast<std::uint64_t>(grid.spec.timeout));
  number("window_ns", static_cast<std::uint64_t>(grid.spec.window));
  out += R"("thresholds":)";
  appendThresholds(out, grid.thresholds);
  out += ',';
  appendAddresses(out, "sources", grid.sources);
  out += ',';
  appendAddresses(out, "destinations", grid.destinations);
  out += '}';
}

void appendNames(std::string& out, const GridPlan& plan) {
  std::set<IpAddress> addresses;
  for (const ProbeGrid& grid : plan.probes) {
    addresses.insert(grid.sources.begin(), grid.sources.end());
    addresses.insert(grid.destinations.begin(), grid.destinations.end());
  }
  char separator = '{';
  for (const IpAddress& address : addresses) {
    const auto named = plan.pinglist->names.find(address);
    if (named == plan.pinglist->names.end()) continue;
    out += separator;
    appendJsonString(out, address.text());
    out += ':';
    appendJsonString(out, named->second);
    separator = ',';
  }
  out += separator == '{' ? "{}" : "}";
}

// {"rack":{"10.0.0.1":"r1",...},...}: the labels of the pinglist's hosts. The label of one of
// several addresses counts as its rail, unless the host has a label of that name.
using Labels = std::map<std::string, std::map<std::string, std::string>>;

Labels labelsOf(const pinglist::Pinglist& pinglist) {
  Labels labels;
  for (const pinglist::Host& host : pinglist.hosts) {
    for (const auto& [rail, address] : host.addresses) {
      for (const auto& [label, value] : host.labels) labels[label][address.text()] = value;
      if (!rail.empty()) labels["rail"].emplace(address.text(), rail);
    }
  }
  return labels;
}

void appendLabels(std::string& out, const Labels& labels) {
  char outer = '{';
  for (const auto& [label, values] : labels) {
    out += outer;
    appendJsonString(out, label);
    out += ':';
    char inner = '{';
    for (const auto& [address, value] : values) {
      out += inner;
      appendJsonString(out, address);
      out += ':';
      appendJsonString(out, value);
      inner = ',';
    }
    out += '}';
    outer = ',';
  }
  out += labels.empty() ? "{}" : "}";
}

// 0..last, evenly spread over the logarithm of low..high.
std::uint8_t logarithmicStep(double value, double low, double high, int last) {
  const double at = std::log(value / low) / std::log(high / low);
  return static_cast<std::uint8_t>(std::lround(std::clamp(at, 0.0, 1.0) * last));
}

template <typename T>
void put(char*& at, T value) {
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}

// The first 16 bytes.
void putHeader(char*& at, std::uint8_t type, const LiveFrame& frame) {
  put(at, kLiveVersion);
  put(at, type);
  put(at, std::uint16_t{0});
  put(at, frame.generation);
  put(at, frame.watch);
  put(at, frame.sequence);
}

}  // namespace

std::uint8_t liveValue(const Metric& metric, const Row* row) {
  if (row == nullptr) return 0;
  if (metric.isRatio()) {
    const auto ratio = metric.ratioOf(*row);
    if (!ratio) return 0;
    return *ratio <= 0 ? 1 : static_cast<std::uint8_t>(2 + logarithmicStep(*ratio, 1e-4, 1, 253));
  }
  const auto nanoseconds = metric.nanosecondsOf(*row);
  if (!nanoseconds) return 0;
  const double value = std::max(1.0, static_cast<double>(*nanoseconds));
  return static_cast<std::uint8_t>(1 + logarithmicStep(value, 100, 1e10, 254));
}

std::string livePlan(const GridPlan& plan, std::uint64_t epoch) {
  // As text: JavaScript's numbers end at 2^53.
  std::string out =
      R"({"type":"plan","version":2,"epoch":")" + std::to_string(epoch) + R"(","generation":)";
  appendJsonNumber(out, plan.generation);
  out += R"(,"states":[)";
  for (std::size_t i = 0; i < kPairStateNames.size(); ++i) {
    if (i != 0) out += ',';
    appendJsonString(out, kPairStateNames[i]);
  }
  out += R"(],"probes":[)";
  for (std::size_t i = 0; i < plan.probes.size(); ++i) {
    if (i != 0) out += ',';
    appendProbe(out, plan.probes[i]);
  }
  out += R"(],"names":)";
  if (plan.pinglist == nullptr) {
    out += R"({},"labels":{})";
  } else {
    appendNames(out, plan);
    out += R"(,"labels":)";
    appendLabels(out, labelsOf(*plan.pinglist));
  }
  out += '}';
  return out;
}

std::string liveRow(const GridPlan& plan, const LiveFrame& frame, const Metric& metric,
                    std::uint32_t probe, std::uint32_t source, const SourceSnapshot* snapshot) {
  const ProbeGrid& grid = plan.probes[probe];
  const std::size_t count = grid.destinations.size();
  std::string out(kLiveHeaderBytes + count * kLiveBytesPerCell, '\0');
  const SourceRows* rows = snapshot == nullptr ? nullptr : snapshot->rows.get();
  double window_end = std::numeric_limits<double>::quiet_NaN();
  if (rows != nullptr) {
    const Nanos end_ms = rows->endUtc() / kMillisecond;
    window_end = static_cast<double>(end_ms);
  }
  char* at = out.data();
  putHeader(at, kLiveRow, frame);
  put(at, window_end);
  put(at, source);
  put(at, static_cast<std::uint16_t>(probe));
  put(at, std::uint16_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    const auto state = stateOf(grid, snapshot, source, i);
    put(at, state ? static_cast<std::uint8_t>(*state) : kLiveNotAPair);
  }
  for (std::size_t i = 0; i < count; ++i) put(at, liveValue(metric, rowOf(snapshot, i)));
  return out;
}

std::string liveSync(const LiveFrame& frame) {
  std::string out(kLiveHeaderBytes, '\0');
  char* at = out.data();
  putHeader(at, kLiveSync, frame);
  return out;
}

}  // namespace pingloom::controller
