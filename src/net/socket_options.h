// Helpers that set socket options. Any thread.
#pragma once

#include <sys/socket.h>

#include <cerrno>

namespace pingloom::net {

inline bool setOption(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

// Enlarges a buffer as far as the kernel allows. Only root may use the FORCE variants.
inline void enlarge(int fd, int option, int forced, int bytes) {
  if (!setOption(fd, SOL_SOCKET, forced, bytes)) setOption(fd, SOL_SOCKET, option, bytes);
}

// Sets an option that is useful but not necessary. qemu-user has no SO_RXQ_OVFL and
// SO_TIMESTAMPING, and Linux before 5.0 has no UDP_GRO. Without them drops are not counted, packets
// have no timestamp (which is counted if one is needed), and packets are received one by one.
inline bool setOptionIfKnown(int fd, int level, int option, int value) {
  return setOption(fd, level, option, value) || errno == ENOPROTOOPT;
}

}  // namespace pingloom::net
