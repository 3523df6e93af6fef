// Socket options in a word. Any thread.
#pragma once

#include <sys/socket.h>

#include <cerrno>

namespace pingloom::net {

inline bool setOption(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

// As much as the kernel allows; the FORCE variants work for root only.
inline void enlarge(int fd, int option, int forced, int bytes) {
  if (!setOption(fd, SOL_SOCKET, forced, bytes)) setOption(fd, SOL_SOCKET, option, bytes);
}

// For what tells more of a packet but is not needed to have it: qemu-user knows neither SO_RXQ_OVFL
// nor SO_TIMESTAMPING, and Linux before 5.0 no UDP_GRO. Drops are not counted then, packets have no
// timestamp, which is counted where one is needed, and come one by one.
inline bool setOptionIfKnown(int fd, int level, int option, int value) {
  return setOption(fd, level, option, value) || errno == ENOPROTOOPT;
}

}  // namespace pingloom::net
