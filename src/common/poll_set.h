// Descriptors to wait for, each known by an enumerator of `Name` and not by its place in an array.
// The last enumerator of `Name` is kCount. One thread.
#pragma once

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/time.h"

namespace pingloom {

template <typename Name>
class PollSet {
 public:
  PollSet() { entries_.fill({-1, 0, 0}); }

  // -1 is never ready.
  void watch(Name name, int descriptor, short events = POLLIN) {
    entryOf(name) = {descriptor, events, 0};
  }
  // Returns when one is ready or so much time has passed. False: the call failed for the reason in
  // errno, a signal for instance (EINTR), and none is ready.
  bool wait(Nanos longest) {
    const Nanos wait = std::clamp<Nanos>(longest, 0, kHour);
    const timespec timeout{wait / kSecond, wait % kSecond};
    if (::ppoll(entries_.data(), entries_.size(), &timeout, nullptr) >= 0) return true;
    for (pollfd& entry : entries_) entry.revents = 0;
    return false;
  }
  bool ready(Name name) const { return events(name) != 0; }
  // Those of poll(2).
  short events(Name name) const { return entries_[static_cast<std::size_t>(name)].revents; }

 private:
  pollfd& entryOf(Name name) { return entries_[static_cast<std::size_t>(name)]; }

  std::array<pollfd, static_cast<std::size_t>(Name::kCount)> entries_;
};

}  // namespace pingloom
