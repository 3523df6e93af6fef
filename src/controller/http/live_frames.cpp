#include "controller/http/live_frames.h"

#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "controller/http/cells.h"
#include "http/json_text.h"

namespace pingloom::controller {
namespace {

static_assert(std::endian::native == std::endian::little, "messages are written by memcpy");

using http::appendJsonNumber;
using http::appendJsonString;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

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

float nanoseconds(const Summary& summary, std::uint64_t value) {
  return summary.count == 0 ? kNone : static_cast<float>(value);
}

template <typename T>
void put(char*& at, T value) {
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}

}  // namespace

std::string livePlan(const GridPlan& plan) {
  std::string out = R"({"type":"plan","version":1,"generation":)";
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
    out += "{}";
  } else {
    appendNames(out, plan);
  }
  out += '}';
  return out;
}

std::string liveRow(const GridPlan& plan, std::uint32_t probe, std::uint32_t source,
                    const SourceSnapshot* snapshot) {
  const ProbeGrid& grid = plan.probes[probe];
  const std::size_t count = grid.destinations.size();
  std::string out(kLiveHeaderBytes + count * kLiveBytesPerCell, '\0');
  const SourceRows* rows = snapshot == nullptr ? nullptr : snapshot->rows.get();
  double window_end = std::numeric_limits<double>::quiet_NaN();
  if (rows != nullptr) {
    const Nanos end_ms = (rows->window_start_utc + rows->window) / kMillisecond;
    window_end = static_cast<double>(end_ms);
  }
  char* at = out.data();
  put(at, kLiveVersion);
  put(at, kLiveRow);
  put(at, static_cast<std::uint16_t>(probe));
  put(at, static_cast<std::uint32_t>(plan.generation));
  put(at, source);
  put(at, static_cast<std::uint32_t>(count));
  put(at, window_end);
  const auto set = [at, count](std::size_t column, std::size_t i, float value) {
    std::memcpy(at + (column * count + i) * sizeof(float), &value, sizeof value);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const Row* row = rowOf(snapshot, i);
    const bool known = row != nullptr;
    set(0, i, known ? nanoseconds(row->network, row->network.p50) : kNone);
    set(1, i, known ? nanoseconds(row->network, row->network.p99) : kNone);
    set(2, i, known ? nanoseconds(row->rtt, row->rtt.p50) : kNone);
    set(3, i, known ? static_cast<float>(row->lost) / static_cast<float>(row->sent) : kNone);
    const auto state = stateOf(grid, snapshot, source, i);
    at[4 * count * sizeof(float) + i] =
        static_cast<char>(state ? static_cast<std::uint8_t>(*state) : kLiveNotAPair);
  }
  return out;
}

}  // namespace pingloom::controller
