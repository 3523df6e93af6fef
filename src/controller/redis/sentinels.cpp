#include "controller/redis/sentinels.h"

#include <string_view>

#include "common/text.h"
#include "controller/redis/connection.h"

namespace pingloom::controller {

Result<RedisTarget> Sentinels::askForMaster() const {
  const RedisServer& server = target_.servers[asked_];
  const auto sentinel =
      RedisConnection::connect(target_.at(server), {"", target_.sentinel_password_file});
  if (!sentinel) return tl::unexpected(sentinel.error());
  Commands question;
  question.add(std::string_view("SENTINEL"), std::string_view("get-master-addr-by-name"),
               target_.master);
  const auto answer = (*sentinel)->list(question);
  if (!answer) return tl::unexpected(answer.error());
  const std::string entity = "sentinel " + server.text();
  if (answer->empty()) return makeError(entity, "knows no master '" + target_.master + "'");
  const auto port = parseUnsigned(answer->back(), 65535);
  if (answer->size() != 2 || answer->front().empty() || !port || *port == 0) {
    return makeError(entity, "does not answer with an address");
  }
  return target_.at({answer->front(), static_cast<std::uint16_t>(*port)});
}

}  // namespace pingloom::controller
