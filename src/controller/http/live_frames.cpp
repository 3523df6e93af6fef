#include "controller/http/live_frames.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "common/json_text.h"
#include "controller/http/cells.h"
#include "controller/model/host_labels.h"
#include "controller/model/incident_json.h"

namespace pingloom::controller {
namespace {

static_assert(std::endian::native == std::endian::little, "messages are written by memcpy");

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
    appendJsonString(out, kFigureNames[i]);
    level(R"(:{"warn":)", thresholds.of[i].warn.text());
    level(R"(,"crit":)", thresholds.of[i].crit.text());
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

// Appends the labels of the pinglist's hosts: {"rack":{"10.0.0.1":"r1",...},...}.
using Labels = std::map<std::string_view, std::map<std::string, std::string_view>>;

Labels labelsOf(const pinglist::Pinglist& pinglist) {
  Labels labels;
  for (const pinglist::Host& host : pinglist.hosts) {
    for (const auto& [address_label, address] : host.addresses) {
      const std::string text = address.text();
      for (const auto& [label, value] : labelsAt(host, address_label)) labels[label][text] = value;
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

// Rounds values to steps 0..kLast, which are evenly spread over the logarithm of low..high. The
// border between two steps lies in their middle, by logarithm. REQUIRES: a step is wider than a
// part of an octave (below), so that at most one border lies in a part.
template <int kLast>
class LogScale {
 public:
  LogScale(double low, double high) {
    const double step = std::log(high / low) / kLast;
    for (std::size_t i = 0; i < kLast; ++i) {
      borders_[i] = low * std::exp((static_cast<double>(i) + 0.5) * step);
    }
    borders_[kLast] = std::numeric_limits<double>::infinity();
    for (std::size_t part = 0; part < first_.size(); ++part) {
      const double least = std::bit_cast<double>((part + kMin) << kShift);
      first_[part] = static_cast<std::uint8_t>(
          std::lower_bound(borders_.begin(), borders_.end(), least) - borders_.begin());
    }
  }

  // Returns the number of borders that are not above the value. It is fast enough for millions of
  // cells: the value's part of an octave gives the first candidate, and one comparison, which is
  // not a branch, finds the step.
  std::uint8_t stepOf(double value) const {
    const std::uint64_t part = std::bit_cast<std::uint64_t>(value) >> kShift;
    if (part < kMin) return 0;
    if (part - kMin >= first_.size()) return kLast;
    const std::uint8_t step = first_[part - kMin];
    return static_cast<std::uint8_t>(step + (value >= borders_[step] ? 1 : 0));
  }

 private:
  // Octaves from 2^-16 on have 32 parts each: sign, exponent and 5 bits of the mantissa.
  static constexpr int kShift = 47;
  static constexpr std::uint64_t kMin = (1023 - 16) * 32;
  std::array<double, kLast + 1> borders_;
  std::array<std::uint8_t, 64 * 32> first_;  // the number of borders below all values of a part
};

template <typename T>
void put(char*& at, T value) {
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}

void putHeader(char* at, std::uint8_t type, const LiveFrame& frame) {
  put(at, kLiveVersion);
  put(at, type);
  put(at, std::uint16_t{0});
  put(at, frame.generation);
  put(at, frame.watch);
  put(at, frame.sequence);
}

}  // namespace

std::uint8_t liveValue(const Metric& metric, const MetricValue& value) {
  if (!value.measured()) return 0;
  if (metric.isRatio()) {
    static const LogScale<253> ratios(1e-4, 1);
    return value.part == 0 ? 1 : static_cast<std::uint8_t>(2 + ratios.stepOf(value.number()));
  }
  static const LogScale<254> times(100, 1e10);
  return static_cast<std::uint8_t>(1 + times.stepOf(static_cast<double>(value.part)));
}

void liveValues(const Metric& metric, std::span<const MetricValue> values, char* out) {
  for (const MetricValue& value : values) *out++ = static_cast<char>(liveValue(metric, value));
}

std::uint8_t liveDifference(const Metric& metric, const MetricValue& now, const MetricValue& then) {
  constexpr double kMiddle = 128;
  constexpr double kSide = 127;
  constexpr double kDecades = 3;
  if (!now.measured() || !then.measured()) return 0;
  const double step =
      metric.isRatio()
          ? now.number() - then.number()
          : std::log10(std::max(now.number(), 1.0) / std::max(then.number(), 1.0)) / kDecades;
  return static_cast<std::uint8_t>(std::lround(kMiddle + kSide * std::clamp(step, -1.0, 1.0)));
}

std::string livePlan(const GridPlan& plan, std::uint64_t epoch) {
  // The epoch is a string because JavaScript's numbers are exact only up to 2^53.
  std::string out =
      R"({"type":"plan","version":5,"epoch":")" + std::to_string(epoch) + R"(","generation":)";
  appendJsonNumber(out, plan.generation);
  out += R"(,"states":[)";
  for (std::size_t i = 0; i < kPairStateNames.size(); ++i) {
    if (i != 0) out += ',';
    appendJsonString(out, kPairStateNames[i]);
  }
  out += R"(],"severities":[)";
  for (std::size_t i = 0; i < kSeverityNames.size(); ++i) {
    if (i != 0) out += ',';
    appendJsonString(out, kSeverityNames[i]);
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

std::string liveVerdict(const Verdict& verdict) {
  IncidentJson json = {{"type", "verdict"}};
  json.update(toJson(verdict));
  return jsonLine(json);
}

std::string liveCells(const ProbeGrid& grid, const Metric& metric, std::uint32_t source,
                      const SourceSnapshot* snapshot) {
  const std::size_t count = grid.destinations.size();
  std::string out(count * kLiveBytesPerCell, '\0');
  char* at = out.data();
  for (std::size_t i = 0; i < count; ++i) {
    const auto state = stateOf(grid, snapshot, source, i);
    put(at, state
                ? liveCell(*state, snapshot == nullptr ? Severity::kNone : snapshot->severityOf(i))
                : kLiveNotAPair);
  }
  for (std::size_t i = 0; i < count; ++i) put(at, liveValue(metric, rowOf(snapshot, i)));
  return out;
}

std::string liveRows(const LiveFrame& frame) {
  std::string out(kLiveHeaderBytes, '\0');
  putHeader(out.data(), kLiveRow, frame);
  return out;
}

void appendLiveRow(std::string& out, std::uint32_t probe, std::uint32_t source,
                   std::optional<Nanos> end_utc, std::string_view cells) {
  double window_end = std::numeric_limits<double>::quiet_NaN();
  if (end_utc) {
    const Nanos end_ms = *end_utc / kMillisecond;
    window_end = static_cast<double>(end_ms);
  }
  std::array<char, kLiveRowBytes> head{};
  char* at = head.data();
  put(at, window_end);
  put(at, source);
  put(at, static_cast<std::uint16_t>(probe));
  put(at, std::uint16_t{0});
  out.append(head.data(), head.size()).append(cells);
}

void appendLiveRow(std::string& out, std::uint32_t probe, std::uint32_t source,
                   const SourceSnapshot* snapshot, std::string_view cells) {
  std::optional<Nanos> end_utc;
  if (snapshot != nullptr && snapshot->rows != nullptr) end_utc = snapshot->rows->endUtc();
  appendLiveRow(out, probe, source, end_utc, cells);
}

std::string liveSync(const LiveFrame& frame) {
  std::string out(kLiveHeaderBytes, '\0');
  putHeader(out.data(), kLiveSync, frame);
  return out;
}

}  // namespace pingloom::controller
