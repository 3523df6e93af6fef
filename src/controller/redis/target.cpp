#include "controller/redis/target.h"

#include "common/text.h"

namespace pingloom::controller {

std::optional<RedisServer> parseRedisServer(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parseUnsigned(text.substr(colon + 1), 65535);
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || *port == 0 || host.empty()) return std::nullopt;
  return RedisServer{std::string(host), static_cast<std::uint16_t>(*port)};
}

}  // namespace pingloom::controller
