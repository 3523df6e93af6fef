#include "controller/control/counter_log.h"

#include <utility>

#include "wire/nic_counter_codec.h"

namespace pingloom::controller {

std::optional<Refusal> CounterLog::take(Agent& agent, const wire::AgentStatus& status,
                                        Instant now) {
  const bool gap = now.mono - std::exchange(agent.counters_mono, now.mono) > kLongestGap;
  if (!status.has_counters()) return std::nullopt;
  const auto update = wire::decode(status.counters());
  if (!update) return Refusal{wire::Refused::BAD_MESSAGE, update.error().text()};
  auto step = applyUpdate(agent.info.counters.get(), *update, gap, now.utc);
  if (!step) return Refusal{wire::Refused::BAD_MESSAGE, step.error().text()};
  agent.info.counters = std::move(step->counters);
  if (!agent.info.isHere()) return std::nullopt;
  for (CounterRecord& moved : step->moved) note(agent.info.host, std::move(moved));
  return std::nullopt;
}

void CounterLog::note(const std::string& host, CounterRecord moved) {
  auto& minute = minutes_[moved.minute_utc];
  const Key key(host, moved.device, moved.port, moved.counter);
  const auto found = minute.find(key);
  if (found != minute.end()) {
    found->second.total = moved.total;
    found->second.moved += moved.moved;
  } else if (waiting_ < kMaxWaiting) {
    moved.host = host;
    minute.emplace(key, std::move(moved));
    ++waiting_;
  } else {
    ++dropped_;
  }
}

std::vector<CounterRecord> CounterLog::takeEnded(Nanos now_utc, std::size_t most) {
  std::vector<CounterRecord> ended;
  while (!minutes_.empty()) {
    const auto oldest = minutes_.begin();
    // A minute of the future stems from a clock that was set back.
    const bool over = oldest->first < minuteOf(now_utc) || oldest->first > now_utc;
    if (!over) break;
    auto& records = oldest->second;
    while (!records.empty() && ended.size() < most) {
      ended.push_back(std::move(records.begin()->second));
      records.erase(records.begin());
    }
    if (!records.empty()) break;
    minutes_.erase(oldest);
  }
  waiting_ -= ended.size();
  return ended;
}

}  // namespace pingloom::controller
