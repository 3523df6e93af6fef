#include "controller/model/host_counters.h"

#include <algorithm>

namespace pingloom::controller {
namespace {

// docs/counters.md says what a host costs.
static_assert(sizeof(HostCounter) == 40 && sizeof(CounterMove) == 24);

template <typename Ports>
auto* portIn(Ports& ports, const NicPort& wanted) {
  const auto found = std::find_if(ports.begin(), ports.end(), [&wanted](const HostPort& each) {
    return each.device == wanted.device && each.port == wanted.port;
  });
  return found == ports.end() ? nullptr : &*found;
}

template <typename Port>
auto* counterIn(Port& port, CounterId id) {
  const auto found =
      std::lower_bound(port.counters.begin(), port.counters.end(), id,
                       [](const HostCounter& counter, CounterId key) { return counter.id < key; });
  return found == port.counters.end() || found->id != id ? nullptr : &*found;
}

void addMove(HostCounter& counter, std::uint64_t moved, Nanos now_utc) {
  auto& moves = counter.moves;
  const Nanos oldest = minuteOf(now_utc) - (HostCounters::kKeptMinutes - 1) * kMinute;
  // The controller's clock may have been set back, and a move of the future would never age.
  std::erase_if(moves, [&](const CounterMove& move) {
    return move.first_utc < oldest || move.first_utc > now_utc;
  });
  if (moves.empty() || minuteOf(moves.back().first_utc) != minuteOf(now_utc)) {
    moves.push_back({now_utc, now_utc, 0});
  }
  moves.back().last_utc = now_utc;
  moves.back().moved += moved;
}

// Sets a counter's value, and notes by how much it has grown.
void advance(HostCounter& counter, std::uint64_t value, const NicPort& port, Nanos now_utc,
             std::vector<CounterRecord>& moved) {
  const std::uint64_t increase = counterIncrease(counter.total, value);
  counter.total = value;
  if (increase == 0) return;
  addMove(counter, increase, now_utc);
  moved.push_back(
      {minuteOf(now_utc), {}, port.device, port.port, counter.id, counter.total, increase});
}

void takeComplete(const HostCounters* before, const NicUpdate& update, bool gap, Nanos now_utc,
                  HostCounters& after, std::vector<CounterRecord>& moved) {
  after.since_utc = before == nullptr || gap ? now_utc : before->since_utc;
  for (const NicPort& told : update.ports) {
    HostPort& port = after.ports.emplace_back(HostPort{told.device, told.port, {}});
    const HostPort* known = before == nullptr || gap ? nullptr : portIn(before->ports, told);
    for (const NicCounter& each : told.counters) {
      const HostCounter* old = known == nullptr ? nullptr : counterIn(*known, each.id);
      port.counters.push_back(old == nullptr ? HostCounter{each.id, each.value, {}} : *old);
      advance(port.counters.back(), each.value, told, now_utc, moved);
    }
  }
}

}  // namespace

std::uint64_t movedSince(const HostCounter& counter, Nanos utc) {
  std::uint64_t moved = 0;
  for (const CounterMove& move : counter.moves) {
    if (move.first_utc >= minuteOf(utc)) moved += move.moved;
  }
  return moved;
}

std::size_t errorsMoved(const HostCounters& counters, Nanos now_utc) {
  std::size_t number = 0;
  for (const HostPort& port : counters.ports) {
    for (const HostCounter& counter : port.counters) {
      const bool error = watchedCounters()[counter.id].kind == CounterKind::kError;
      if (error && movedSince(counter, now_utc - kRecentMoves) > 0) ++number;
    }
  }
  return number;
}

Result<CounterStep> applyUpdate(const HostCounters* before, const NicUpdate& update, bool gap,
                                Nanos now_utc) {
  CounterStep step;
  auto after = std::make_shared<HostCounters>();
  if (update.complete) {
    takeComplete(before, update, gap, now_utc, *after, step.moved);
    step.counters = std::move(after);
    return step;
  }
  if (before != nullptr) *after = *before;
  if (gap) after->since_utc = now_utc;
  for (const NicPort& told : update.ports) {
    HostPort* port = portIn(after->ports, told);
    for (const NicCounter& each : told.counters) {
      HostCounter* counter = port == nullptr ? nullptr : counterIn(*port, each.id);
      if (counter == nullptr) {
        return makeError("counters of " + told.device, "have moved, but were never told");
      }
      if (gap) {
        counter->total = each.value;
      } else {
        advance(*counter, each.value, told, now_utc, step.moved);
      }
    }
  }
  step.counters = std::move(after);
  return step;
}

}  // namespace pingloom::controller
