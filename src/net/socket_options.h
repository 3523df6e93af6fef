// Socket options in a word. Any thread.
#pragma once

#include <sys/socket.h>

namespace pingloom::net {

inline bool setOption(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

// As much as the kernel allows; the FORCE variants work for root only.
inline void enlarge(int fd, int option, int forced, int bytes) {
  if (!setOption(fd, SOL_SOCKET, forced, bytes)) setOption(fd, SOL_SOCKET, option, bytes);
}

}  // namespace pingloom::net
