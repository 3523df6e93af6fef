#include "fleet.h"

#include <fmt/format.h>

#include <algorithm>

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
  descriptors_.resize(agents);
}

Status Fleet::startAll() {
  for (const auto& agent : agents_) {
    if (auto status = agent->start(context_, monotonicNow()); !status) return status;
  }
  return {};
}

void Fleet::killAll() {
  for (const auto& agent : agents_) agent->kill();
}

void Fleet::closeWindows() {
  last_window_ = std::max(last_window_ + 1, newestWindow(shape_.window));
  closeWindows(last_window_);
}

void Fleet::closeWindows(std::uint64_t window_index) {
  const Nanos now = monotonicNow();
  for (const auto& agent : agents_) {
    agent->closeWindow(window_index, now);
    agent->run(now);
  }
  batches_closed_ += agents_.size();
}

void Fleet::serveOnce(Nanos until_mono) {
  Nanos due = until_mono;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    due = std::min(due, agents_[i]->deadline());
    descriptors_[i] = {agents_[i]->descriptor(), POLLIN, 0};
  }
  const Nanos left = std::clamp<Nanos>(due - monotonicNow(), 0, kSecond);
  const timespec timeout{left / kSecond, left % kSecond};
  ::ppoll(descriptors_.data(), descriptors_.size(), &timeout, nullptr);
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    const Nanos now = monotonicNow();
    if (descriptors_[i].revents != 0 || agents_[i]->deadline() <= now) agents_[i]->run(now);
  }
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
