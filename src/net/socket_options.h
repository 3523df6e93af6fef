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

// The kernel says with what it delivers how much it could not queue. Linux knows it since 2.6.33,
// qemu-user does not: there such drops are not counted.
inline bool countOverflows(int fd) {
  return setOption(fd, SOL_SOCKET, SO_RXQ_OVFL, 1) || errno == ENOPROTOOPT;
}

}  // namespace pingloom::net
