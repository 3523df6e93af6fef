// Answers TCP probes: accepts and closes at once, never reads. The event loop's thread.
#pragma once

#include <cstdint>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"

namespace pingloom::probe {

// Bounds: kAcceptsPerCall connections in one call of acceptReady(); where the process has no
// descriptor left it pauses for kPause (the kernel keeps completing handshakes up to the backlog).
class TcpListener {
 public:
  static constexpr int kAcceptsPerCall = 64;
  static constexpr Nanos kPause = 100 * kMillisecond;

  // On `address`; an unspecified one means all of its family. Added to `epoll` with `key`.
  static Result<TcpListener> open(const SocketAddress& address, int epoll, std::uint64_t key);

  // The number of connections accepted.
  std::uint64_t acceptReady(Nanos now);
  // After a pause; kNever while there is none.
  Nanos nextResume() const { return resume_mono_; }
  void resume(Nanos now);

 private:
  TcpListener(UniqueFd socket, int epoll, std::uint64_t key);
  bool watch(std::uint32_t events, int operation) const;
  void pause(Nanos now, int error_number);

  UniqueFd socket_;
  int epoll_;
  std::uint64_t key_;
  Nanos resume_mono_ = kNever;
  bool warned_ = false;  // once until an accept succeeds again
};

}  // namespace pingloom::probe
