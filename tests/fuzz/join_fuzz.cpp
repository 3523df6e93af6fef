// Join messages from outside, and the book of tokens and requests, which a person may edit.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keys/join_rules.h"
#include "keys/join_token.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)keys::JoinToken::parse(bytes);
  if (const auto book = keys::JoinBook::parse(bytes, "join.yaml")) {
    // What it writes has to be what it reads.
    const std::string text = book->text();
    const auto again = keys::JoinBook::parse(text, "join.yaml");
    if (!again || again->text() != text) __builtin_trap();
  }
  wire::AgentMessage message;
  if (!message.ParseFromArray(data, static_cast<int>(size)) || !message.has_join()) return 0;
  const auto request = keys::readJoin(message.join(), "10.0.0.1");
  if (!request) return 0;
  keys::AuthorizedKeys authorized;
  keys::JoinBook joins;
  keys::KnownToken token(request->key);
  token.expires_utc = kSecond;  // files have milliseconds
  joins.tokens.push_back(token);
  (void)keys::JoinRules(authorized, joins, 0).decide(*request, token.key);
  // The controller must be able to read what it would write.
  if (!keys::AuthorizedKeys::parse(authorized.text(), "keys.yaml")) __builtin_trap();
  if (!keys::JoinBook::parse(joins.text(), "join.yaml")) __builtin_trap();
  return 0;
}
