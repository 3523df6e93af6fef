#include "controller/verdict/counter_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxNamed = 3;  // in a sentence

// Whether load moved unusually much since `from_utc`, by the minutes before.
bool isUnusual(const HostCounter& counter, Nanos known_since_utc, Nanos from_utc, Nanos now_utc) {
  const Nanos oldest = minuteOf(now_utc) - (HostCounters::kKeptMinutes - 1) * kMinute;
  const Nanos usual_from = std::max(known_since_utc, oldest);
  const Nanos usual_span = minuteOf(from_utc) - usual_from;
  if (usual_span < kUsualLoad) return false;
  const std::uint64_t recent = movedSince(counter, from_utc);
  const std::uint64_t usual = movedSince(counter, usual_from) - recent;
  const auto recent_span = static_cast<double>(now_utc - minuteOf(from_utc));
  const double usual_rate = static_cast<double>(usual) / static_cast<double>(usual_span);
  return static_cast<double>(recent) / recent_span > static_cast<double>(kUnusualLoad) * usual_rate;
}

bool isError(const MovedCounter& moved) { return moved.kind == CounterKind::kError; }

// Names as people know them: 1,204 instead of 1204, and no "_total".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string shortName(std::string_view counter) {
  constexpr std::string_view kTotal = "_total";
  if (counter.ends_with(kTotal)) counter.remove_suffix(kTotal.size());
  return std::string(counter);
}

std::string placeOf(const MovedCounter& moved, bool with_host) {
  std::string text = moved.port == 0 ? "interface " + moved.device
                                     : fmt::format("port {}/{}", moved.device, moved.port);
  if (with_host) text += " of " + moved.host;
  return text;
}

}  // namespace

std::vector<std::uint32_t> accusedHosts(const Places& places, const Finding& finding) {
  std::set<std::uint32_t> hosts;
  const auto add_host_at = [&](const IpAddress& address) {
    const std::uint32_t at = places.addressOf(address);
    if (at != Places::kNone) hosts.insert(places.addresses()[at].host);
  };
  switch (finding.culprit.kind) {
    case CulpritKind::kGroup:
    case CulpritKind::kProbe:
    case CulpritKind::kLink:
    case CulpritKind::kCable:
    case CulpritKind::kSwitch:
      break;
    case CulpritKind::kPair:
      if (finding.evidence.empty()) break;
      add_host_at(finding.evidence.front().source);
      add_host_at(finding.evidence.front().destination);
      break;
    case CulpritKind::kAddress:
    case CulpritKind::kAddressSend:
    case CulpritKind::kAddressReceive:
      for (const Places::Address& each : places.addresses()) {
        if (each.name == finding.culprit.name) hosts.insert(each.host);
      }
      break;
    case CulpritKind::kHost:
    case CulpritKind::kHostSend:
    case CulpritKind::kHostReceive:
    case CulpritKind::kHostCpu:
    case CulpritKind::kAgent:
      const std::uint32_t host = places.hostNamed(finding.culprit.name);
      if (host != Places::kNone) hosts.insert(host);
      break;
  }
  return {hosts.begin(), hosts.end()};
}

void appendMoved(const std::string& host, const HostCounters& counters, Nanos now_utc,
                 std::vector<MovedCounter>& into) {
  const Nanos from_utc = now_utc - kCounterLookBack;
  for (const HostPort& port : counters.ports) {
    for (const HostCounter& counter : port.counters) {
      const std::uint64_t moved = movedSince(counter, from_utc);
      if (moved == 0) continue;
      const WatchedCounter& watched = watchedCounters()[counter.id];
      if (watched.kind == CounterKind::kLoad &&
          !isUnusual(counter, counters.since_utc, from_utc, now_utc)) {
        continue;
      }
      const auto first = std::find_if(
          counter.moves.begin(), counter.moves.end(),
          [&](const CounterMove& move) { return move.first_utc >= minuteOf(from_utc); });
      into.push_back({host, port.device, port.port, std::string(watched.name), watched.kind, moved,
                      first->first_utc});
    }
  }
}

void rankMoved(std::vector<MovedCounter>& moved) {
  std::sort(moved.begin(), moved.end(), [](const MovedCounter& a, const MovedCounter& b) {
    return std::tuple(!isError(a), b.moved, a.host, a.device, a.port, a.counter) <
           std::tuple(!isError(b), a.moved, b.host, b.device, b.port, b.counter);
  });
  if (moved.size() > Incident::kMaxCounters) moved.resize(Incident::kMaxCounters);
}

std::string clauseOf(const std::vector<MovedCounter>& moved, Nanos opened_utc) {
  if (moved.empty()) return "";
  std::set<std::string> hosts;
  Nanos since_utc = kNever;
  for (const MovedCounter& each : moved) hosts.insert(each.host);
  std::string text = ", and ";
  std::string place;
  const std::size_t named = std::min(moved.size(), kMaxNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const std::string here = placeOf(moved[i], hosts.size() > 1);
    if (i > 0) text += ", ";
    if (here != place) text += here + ": ";
    place = here;
    text += fmt::format("{} +{}", shortName(moved[i].counter), grouped(moved[i].moved));
    since_utc = std::min(since_utc, moved[i].since_utc);
  }
  const bool at_once = since_utc + kMinute >= opened_utc && since_utc <= opened_utc + kMinute;
  text += at_once ? " in the same minute" : " since " + formatUtc(since_utc - since_utc % kSecond);
  if (moved.size() > named) text += fmt::format(" ({} more moved)", moved.size() - named);
  return text;
}

}  // namespace pingloom::controller
