#include "fleet.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/duration.h"

namespace pingloom::bench {

IpAddress agentAddress(std::uint32_t number) {
  return IpAddress::fromV4(0x0a000000 + (number / 250) * 256 + number % 250 + 1);
}

IpAddress destinationAddress(std::uint32_t number) {
  return IpAddress::fromV4(0x0ac80000 + (number / 250) * 256 + number % 250 + 1);
}

FleetShape shapeOf(std::uint32_t rows, Nanos window) {
  std::vector<IpAddress> destinations;
  for (std::uint32_t i = 0; i < rows; ++i) destinations.push_back(destinationAddress(i));
  FleetShape made;
  made.rows = rows;
  made.window = window;
  made.row_bytes = makeRows(destinations, kSamples);
  made.lost_row_bytes = makeLostRows(destinations, kSamples);
  return made;
}

std::uint64_t newestWindow(Nanos window) {
  return static_cast<std::uint64_t>(utcNow() / window) - 1;
}

std::string udpPinglist(std::uint32_t agents, std::uint32_t rows, Nanos window) {
  return fmt::format(
      "version: 1\ndefaults: {{ interval: 200ms, timeout: 100ms, window: {} }}\nprobes:\n"
      "  - name: {}\n    protocol: udp\n    from: {}\n    to: {}\n",
      formatDuration(window), kProbeName, listOf(agents, agentAddress),
      listOf(rows, destinationAddress));
}

std::string listOf(std::uint32_t count, IpAddress (*address)(std::uint32_t)) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + address(i).text();
  return "[" + text + "]";
}

Fleet::Fleet(const FleetShape& shape, std::uint32_t agents, std::uint32_t first)
    : shape_(shape), context_(static_cast<int>(4 * agents + 16)) {
  for (std::uint32_t i = 0; i < agents; ++i) {
    agents_.push_back(std::make_unique<FleetAgent>(shape_, first + i, agentAddress(first + i)));
  }
  deadlines_.resize(agents, kNever);
}

Status Fleet::startAll() {
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (auto status = start(i); !status) return status;
  }
  return {};
}

Status Fleet::start(std::size_t agent) {
  if (epoll_.get() < 0) {
    epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    if (epoll_.get() < 0) return makeErrnoError("epoll", "cannot be created", errno);
  }
  if (auto status = agents_[agent]->start(context_, monotonicNow()); !status) return status;
  watch(agent);
  return {};
}

void Fleet::killAll() {
  for (const auto& agent : agents_) agent->kill();
  by_deadline_.clear();
  deadlines_.assign(deadlines_.size(), kNever);
}

void Fleet::closeWindows() {
  last_window_ = std::max(last_window_ + 1, newestWindow(shape_.window));
  closeWindows(last_window_);
}

void Fleet::closeWindows(std::uint64_t window_index) {
  const Nanos now = monotonicNow();
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    agents_[i]->closeWindow(window_index, now);
    run(i);
  }
  batches_closed_ += agents_.size();
}

void Fleet::loseWindow(std::size_t agent, std::uint64_t window_index) {
  agents_[agent]->closeWindow(window_index, monotonicNow(), true);
  run(agent);
}

void Fleet::run(std::size_t agent) {
  agents_[agent]->run(monotonicNow());
  watch(agent);
}

// Waits for the agent's descriptor, which may be another one now, and for its deadline.
void Fleet::watch(std::size_t agent) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = agent;
  // This fails if there is none, or if it is waited for already.
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, agents_[agent]->descriptor(), &event);
  const Nanos deadline = agents_[agent]->deadline();
  if (deadlines_[agent] == deadline) return;
  by_deadline_.erase({deadlines_[agent], agent});
  deadlines_[agent] = deadline;
  if (deadline < kNever) by_deadline_.emplace(deadline, agent);
}

void Fleet::serveOnce(Nanos until_mono) {
  const Nanos due =
      by_deadline_.empty() ? until_mono : std::min(until_mono, by_deadline_.begin()->first);
  const Nanos left = std::clamp<Nanos>(due - monotonicNow(), 0, kSecond);
  const timespec timeout{left / kSecond, left % kSecond};
  std::array<epoll_event, 256> events;
  const int ready = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   &timeout, nullptr);
  for (int i = 0; i < ready; ++i) run(events[static_cast<std::size_t>(i)].data.u64);
  const Nanos now = monotonicNow();
  std::vector<std::size_t> late;
  for (const auto& [deadline, agent] : by_deadline_) {
    if (deadline > now) break;
    late.push_back(agent);
  }
  for (const std::size_t agent : late) run(agent);
}

Result<Nanos> Fleet::serveUntil(const char* what, Nanos patience,
                                const std::function<bool()>& done) {
  const Nanos start = monotonicNow();
  while (!done()) {
    if (monotonicNow() - start > patience) {
      return makeError(what, "not reached within " + formatDuration(patience));
    }
    serveOnce(start + patience);
  }
  return monotonicNow() - start;
}

void Fleet::serveFor(Nanos duration) {
  const Nanos end = monotonicNow() + duration;
  while (monotonicNow() < end) serveOnce(end);
}

bool Fleet::allRegistered(std::uint64_t times) const {
  return std::all_of(agents_.begin(), agents_.end(), [times](const auto& agent) {
    return agent->registered() && agent->registrations() >= times;
  });
}

bool Fleet::allHavePlan(std::uint64_t plans_taken) const {
  return std::all_of(agents_.begin(), agents_.end(), [plans_taken](const auto& agent) {
    return agent->plansTaken() >= plans_taken;
  });
}

bool Fleet::nothingWaits() const {
  return std::all_of(agents_.begin(), agents_.end(),
                     [](const auto& agent) { return agent->waiting() == 0; });
}

std::uint64_t Fleet::resent() const {
  std::uint64_t resent = 0;
  for (const auto& agent : agents_) resent += agent->resent();
  return resent;
}

std::vector<Nanos> Fleet::takeLatencies() {
  std::vector<Nanos> all;
  for (const auto& agent : agents_) {
    const auto some = agent->takeLatencies();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace pingloom::bench
