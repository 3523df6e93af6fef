#include "controller/redis/target.h"

#include <string>

namespace pingloom::controller {

std::string RedisTarget::text() const {
  if (kind != Kind::kTcp) return "unix:" + path;
  const bool v6 = host.find(':') != std::string::npos;
  return "tcp:" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace pingloom::controller
