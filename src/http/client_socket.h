// A client's connection, which never blocks beyond a deadline. Internal to src/http. Any thread;
// errors name the entity that the caller gives.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "http/url.h"

namespace pingloom::http {

// How long an operation may wait: until a time, or until somebody sets the flag.
struct Deadline {
  Deadline(Nanos at_mono, const std::atomic<bool>* flag = nullptr)  // NOLINT: a time is a deadline
      : mono(at_mono), cancelled(flag) {}
  bool over() const {
    return monotonicNow() >= mono || (cancelled != nullptr && cancelled->load());
  }

  Nanos mono;
  const std::atomic<bool>* cancelled;  // nullptr: it cannot be cancelled
};

// Returns the time by which the next of a host's addresses has to answer, so that a silent address
// leaves time for those after it.
Nanos deadlineOfNext(std::size_t addresses_left, Nanos now_mono, Nanos deadline_mono);
// Connects to the first of the host's addresses that answers.
Result<UniqueFd> connectTo(const Url& url, const std::string& entity, Deadline deadline);
Status sendAll(int socket, std::string_view data, const std::string& entity, Deadline deadline);
// Appends the next bytes to `out` and returns their number; 0 at the end.
Result<std::size_t> receiveSome(int socket, std::string& out, const std::string& entity,
                                Deadline deadline);

}  // namespace pingloom::http
