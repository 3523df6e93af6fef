// Answers TCP probes: it accepts connections and closes them at once without reading. Used by the
// event loop's thread.
#pragma once

#include <cstdint>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "probe/event_loop.h"

namespace pingloom::probe::tcp {

// Bound: kAcceptsPerCall connections in one call of acceptReady(). When the process has no
// descriptor left, the listener pauses for kPause; the kernel completes handshakes up to the
// backlog meanwhile.
class Listener {
 public:
  static constexpr int kAcceptsPerCall = 64;
  static constexpr Nanos kPause = 100 * kMillisecond;

  // Listens on `address`; an unspecified one means all of its family. `loop` watches the listener
  // with `key` and outlives it.
  static Result<Listener> open(const SocketAddress& address, const EventLoop& loop,
                               std::uint64_t key);

  // Returns the number of connections accepted.
  std::uint64_t acceptReady(Nanos now);
  // When resume() must be called; kNever while the listener does not pause.
  Nanos nextResume() const { return resume_mono_; }
  void resume(Nanos now);

 private:
  Listener(UniqueFd socket, const EventLoop& loop, std::uint64_t key);
  void pause(Nanos now, int error_number);

  UniqueFd socket_;
  const EventLoop* loop_;
  std::uint64_t key_;
  Nanos resume_mono_ = kNever;
  bool warned_ = false;  // since the last accept that succeeded
};

}  // namespace pingloom::probe::tcp
