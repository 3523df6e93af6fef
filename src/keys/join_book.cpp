#include "keys/join_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/config_reader.h"
#include "common/text.h"
#include "keys/join_token.h"

namespace pingloom::keys {
namespace {

Status readTime(const yaml::Node& node, Nanos& out) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto time = parseUtc(*text);
  if (!time) return node.error("'" + *text + "' is not a time such as " + formatUtc(0));
  out = *time;
  return {};
}

Status readLine(const yaml::Node& node, std::string& out) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (hasControls(*text)) return node.error("has control characters");
  out = std::move(*text);
  return {};
}

constexpr auto kTokenKeys = std::to_array<ConfigKey<KnownToken>>({
    {"id", [](const yaml::Node&, KnownToken&) { return Status(); }},  // for people: from the key
    {"key", [](const yaml::Node&, KnownToken&) { return Status(); }},  // read before
    {"name", [](const yaml::Node& node, KnownToken& token) { return readLine(node, token.name); }},
    {"created",
     [](const yaml::Node& node, KnownToken& token) { return readTime(node, token.created_utc); }},
    {"expires",
     [](const yaml::Node& node, KnownToken& token) { return readTime(node, token.expires_utc); }},
    {"uses", [](const yaml::Node& node,
                KnownToken& token) { return readNumber(node, 1, KnownToken::kMaxUses, token.uses); }},
    {"used", [](const yaml::Node& node,
                KnownToken& token) { return readNumber(node, 0, KnownToken::kMaxUses, token.used); }},
    {"role",
     [](const yaml::Node& node, KnownToken& token) -> Status {
       const auto text = node.text();
       if (!text) return tl::unexpected(text.error());
       const auto role = parseRole(*text);
       if (!role) return node.error(role.error().text());
       token.role = *role;
       return {};
     }},
    {"manual", readField<&KnownToken::manual>},
});

Result<KnownToken> readToken(const yaml::Node& node) {
  if (!node.isMap()) return node.error("expected { key: PUBLIC_KEY, expires: TIME }");
  const auto key = node.find("key");
  if (!key) return node.error("'key' is missing: the token's public key");
  const auto text = key->text();
  if (!text) return tl::unexpected(text.error());
  const auto parsed = net::CurveKey::parse(*text);
  if (!parsed) return key->error(parsed.error().reason);
  KnownToken token(*parsed);
  if (auto read = readMap(node, kTokenKeys, token); !read) return tl::unexpected(read.error());
  if (token.expires_utc == 0) return node.error("'expires' is missing: a time");
  return token;
}

constexpr auto kRequestKeys = std::to_array<ConfigKey<WaitingKey>>({
    {"wants", [](const yaml::Node&, WaitingKey&) { return Status(); }},  // read before
    {"from",
     [](const yaml::Node& node, WaitingKey& waiting) { return readLine(node, waiting.from); }},
    {"why",
     [](const yaml::Node& node, WaitingKey& waiting) { return readLine(node, waiting.why); }},
    {"asked",
     [](const yaml::Node& node, WaitingKey& waiting) { return readTime(node, waiting.asked_utc); }},
    {"rejected", readField<&WaitingKey::rejected>},
});

Result<WaitingKey> readRequest(const yaml::Node& node) {
  if (!node.isMap()) return node.error("expected { wants: { key: PUBLIC_KEY, role: agent } }");
  const auto wants = node.find("wants");
  if (!wants) return node.error("'wants' is missing: the key and what it is for");
  auto entry = readAuthorizedKey(*wants);
  if (!entry) return tl::unexpected(entry.error());
  WaitingKey waiting(std::move(*entry));
  if (auto read = readMap(node, kRequestKeys, waiting); !read) return tl::unexpected(read.error());
  return waiting;
}

// Reads the list `name`, which may be missing.
template <typename Item>
Status readList(const yaml::Node& root, std::string_view name, std::size_t most,
                Result<Item> (*read)(const yaml::Node&), std::vector<Item>& out) {
  const auto list = root.find(name);
  if (!list) return {};
  if (!list->isSequence()) return list->error("expected a list");
  const auto items = list->items();
  if (items.size() > most) return list->error("has more than " + std::to_string(most) + " entries");
  for (const yaml::Node& node : items) {
    auto item = read(node);
    if (!item) return tl::unexpected(item.error());
    out.push_back(std::move(*item));
  }
  return {};
}

std::string textOf(const KnownToken& token) {
  std::string made = fmt::format("  - id: {}\n    key: {}\n", yamlQuoted(tokenId(token.key)),
                                 yamlQuoted(token.key.text()));
  if (!token.name.empty()) made += fmt::format("    name: {}\n", yamlQuoted(token.name));
  made +=
      fmt::format("    created: {}\n    expires: {}\n", yamlQuoted(formatUtc(token.created_utc)),
                  yamlQuoted(formatUtc(token.expires_utc)));
  if (token.uses != 0) made += fmt::format("    uses: {}\n", token.uses);
  if (token.used != 0) made += fmt::format("    used: {}\n", token.used);
  if (token.role) made += fmt::format("    role: {}\n", keys::name(*token.role));
  if (token.manual) made += "    manual: true\n";
  return made;
}

std::string textOf(const WaitingKey& waiting) {
  std::string made = fmt::format("  - asked: {}\n", yamlQuoted(formatUtc(waiting.asked_utc)));
  if (!waiting.from.empty()) made += fmt::format("    from: {}\n", yamlQuoted(waiting.from));
  if (!waiting.why.empty()) made += fmt::format("    why: {}\n", yamlQuoted(waiting.why));
  if (waiting.rejected) made += "    rejected: true\n";
  return made + "    wants:\n      " + yamlOf(waiting.entry, "      ");
}

}  // namespace

Result<JoinBook> JoinBook::parse(std::string_view text, std::string_view file) {
  if (text.size() > kMaxBytes) return makeError(std::string(file), "has more than 16 MiB");
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  JoinBook made;
  if (root->isNull()) return made;
  if (auto known = root->onlyKeys({"tokens", "requests"}); !known) {
    return tl::unexpected(known.error());
  }
  auto read = readList(*root, "tokens", kMaxTokens, readToken, made.tokens);
  if (read) read = readList(*root, "requests", kMaxRequests, readRequest, made.requests);
  if (!read) return tl::unexpected(read.error());
  return made;
}

std::string JoinBook::text() const {
  std::string made =
      "# Join tokens, without their secrets, and keys that wait to be approved. `pingloom keys` "
      "and\n"
      "# the controller rewrite this file.\n";
  made += tokens.empty() ? "tokens: []\n" : "tokens:\n";
  for (const KnownToken& token : tokens) made += textOf(token);
  made += requests.empty() ? "requests: []\n" : "requests:\n";
  for (const WaitingKey& waiting : requests) made += textOf(waiting);
  return made;
}

KnownToken* JoinBook::token(const net::CurveKey& key) {
  const auto found = std::find_if(tokens.begin(), tokens.end(),
                                  [&](const KnownToken& token) { return token.key == key; });
  return found == tokens.end() ? nullptr : &*found;
}

WaitingKey* JoinBook::waiting(const net::CurveKey& key) {
  const auto found = std::find_if(requests.begin(), requests.end(), [&](const WaitingKey& waiting) {
    return waiting.entry.key == key;
  });
  return found == requests.end() ? nullptr : &*found;
}

void JoinBook::forgetOld(Nanos now_utc) {
  std::erase_if(tokens,
                [&](const KnownToken& token) { return token.expired(now_utc - kRemembered); });
  std::erase_if(requests, [&](const WaitingKey& waiting) {
    return waiting.rejected && now_utc - waiting.asked_utc > kRemembered;
  });
}

}  // namespace pingloom::keys
