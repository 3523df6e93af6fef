// pingloom keys token: makes, shows and revokes the tokens with which hosts join.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/failure.h"
#include "cli/keys_usage.h"
#include "cli/text_table.h"
#include "common/duration.h"
#include "common/json_text.h"
#include "common/text.h"
#include "common/time.h"
#include "keys/authorized_file.h"
#include "keys/join_token.h"
#include "keys/key_file.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using Arguments = std::vector<std::string>;

constexpr const char* kTokenCommand = "pingloom keys token";
constexpr std::uint64_t kMaxUses = 1'000'000;
constexpr Nanos kLongest = 365 * 24 * kHour;

struct TokenUsage : KeysUsage {
  TokenUsage(const std::string& name, const std::string& synopsis, const std::string& description)
      : KeysUsage("token " + name, synopsis, description) {}
};

// Reads the public key beside the secret one, or computes it, which needs the secret one's owner.
Result<net::CurveKey> controllerKey(const controller::KeysConfig& keys) {
  if (const auto beside = keys::publicKeyOf(keys.secret.string() + ".pub")) return *beside;
  const auto pair = keys::readSecretKey(keys.secret);
  if (!pair) return tl::unexpected(pair.error());
  return pair->public_key;
}

Status fillToken(const po::variables_map& values, keys::KnownToken& token) {
  const auto lifetime = parseDuration(values["expires"].as<std::string>());
  if (!lifetime) return makeError("--expires", lifetime.error().text());
  if (*lifetime < kSecond || *lifetime > kLongest) {
    return makeError("--expires", "takes 1s to 365d");
  }
  token.created_utc = utcNow() / kSecond * kSecond;
  token.expires_utc = (utcNow() + *lifetime) / kSecond * kSecond;
  token.manual = values.count("manual") != 0;
  if (values.count("uses") != 0) {
    const auto uses = parseUnsigned(values["uses"].as<std::string>(), kMaxUses);
    if (!uses || *uses == 0) return makeError("--uses", "takes a number from 1 to 1000000");
    token.uses = *uses;
  }
  if (values.count("role") != 0) {
    const auto role = keys::parseRole(values["role"].as<std::string>());
    if (!role) return makeError("--role " + role.error().entity, role.error().reason);
    token.role = *role;
  }
  if (values.count("name") != 0) {
    token.name = values["name"].as<std::string>();
    const auto ok = keys::checkName(token.name);
    if (!ok) return makeError("--name", ok.error().reason);
    if (invalidUtf8At(token.name) != std::string_view::npos) {
      return makeError("--name", "is not UTF-8 text");
    }
  }
  return {};
}

int createToken(const Arguments& arguments) {
  TokenUsage action(
      "create", "[--uses N] [--expires 24h] [--manual] [--role agent|collector] [--name TEXT]",
      "Makes a token and prints it. A host that has it may join until it expires. The token is a\n"
      "secret; the controller keeps only what it needs to recognise it.");
  action.options.add_options()("uses", po::value<std::string>()->value_name("N"),
                               "the number of hosts that may join; default: any")(
      "expires", po::value<std::string>()->default_value("24h"), "how long it is valid")(
      "manual", "each host waits until `pingloom keys approve` names it")(
      "role", po::value<std::string>(), "agent or collector; default: both")(
      "name", po::value<std::string>(), "for people");
  action.takesConfig();
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const net::CurvePair own = net::CurvePair::generate();
  keys::KnownToken known(own.public_key);
  if (auto filled = fillToken(values, known); !filled) {
    return fail(kTokenCommand, filled.error(), program::kExitUsage);
  }
  const auto config = keyedConfig(values);
  if (!config) return failKeys(config.error());
  const auto controller = controllerKey(*config->keys);
  if (!controller) return failKeys(controller.error());
  const auto changed = keys::changeKeyFiles(
      config->keys->authorized, true, [&](keys::AuthorizedKeys&, keys::JoinBook& book) -> Status {
        book.forgetOld(utcNow());
        if (book.tokens.size() >= keys::JoinBook::kMaxTokens) {
          return makeError("token", "there are 1024 already; revoke some");
        }
        book.tokens.push_back(known);
        return {};
      });
  if (!changed) return failKeys(changed.error());
  std::cout << keys::JoinToken{*controller, own, known.expires_utc}.text() << "\n";
  complain(kTokenCommand,
           {"note", fmt::format("token {} is valid until {}", keys::tokenId(known.key),
                                formatUtc(known.expires_utc))});
  return 0;
}

std::string stateOf(const keys::KnownToken& token, Nanos now_utc) {
  if (token.expired(now_utc)) return "expired";
  return token.usedUp() ? "used up" : "valid";
}

int listTokens(const Arguments& arguments) {
  TokenUsage action("list", "[--json]", "Shows the tokens, without their secrets.");
  action.options.add_options()("json", "as one JSON document");
  action.takesFile();
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto file = listFile(values);
  if (!file) return failKeys(file.error());
  const auto book = keys::loadJoinBook(*file);
  if (!book) return failKeys(book.error());
  const Nanos now = utcNow();
  nlohmann::ordered_json json = {{"tokens", nlohmann::ordered_json::array()}};
  TextTable table({"TOKEN", "STATE", "EXPIRES", "USED", "ROLE", "APPROVAL", "NAME"});
  std::vector<TextTable::Cells> rows;
  for (const keys::KnownToken& token : book->tokens) {
    const std::string role = token.role ? std::string(keys::name(*token.role)) : "any";
    const std::string uses = token.uses == 0 ? "any" : std::to_string(token.uses);
    rows.push_back({keys::tokenId(token.key), stateOf(token, now), formatUtc(token.expires_utc),
                    fmt::format("{} of {}", token.used, uses), role, token.manual ? "manual" : "-",
                    orDash(printable(token.name))});
    table.fit(rows.back());
    json["tokens"].push_back(
        {{"id", keys::tokenId(token.key)},
         {"state", stateOf(token, now)},
         {"created", formatUtc(token.created_utc)},
         {"expires", formatUtc(token.expires_utc)},
         {"uses", token.uses == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(token.uses)},
         {"used", token.used},
         {"role", role},
         {"manual", token.manual},
         {"name", token.name}});
  }
  if (values.count("json") != 0) {
    std::cout << jsonText(json) << "\n";
    return 0;
  }
  printTable(table, rows);
  return 0;
}

int revokeToken(const Arguments& arguments) {
  TokenUsage action(
      "revoke", "TOKEN|ID",
      "Revokes a token. Within a second nobody can join with it. The keys of hosts that have\n"
      "joined stay authorised; `pingloom keys list` shows with which token each has joined.");
  action.takesFile();
  action.takesArgument("token", "the token, or its ID of eight digits");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  auto id = values["token"].as<std::string>();
  if (const auto token = keys::JoinToken::parse(id)) id = keys::tokenId(token->own.public_key);
  const auto file = listFile(values);
  if (!file) return failKeys(file.error());
  const auto changed = keys::changeKeyFiles(
      *file, false, [&](keys::AuthorizedKeys&, keys::JoinBook& book) -> Status {
        const auto before = book.tokens.size();
        std::erase_if(book.tokens,
                      [&](const auto& known) { return keys::tokenId(known.key) == id; });
        // A mistyped token is a secret, so it is not shown.
        if (before == book.tokens.size()) return makeError("token", "no token has this ID");
        return {};
      });
  if (!changed) return failKeys(changed.error());
  std::cout << "revoked token " << id << "\n";
  return 0;
}

}  // namespace

int runTokens(const Arguments& arguments) {
  static const std::vector<CommandAction> actions = {
      {"create", "make a token and print it", createToken},
      {"list", "show the tokens", listTokens},
      {"revoke", "revoke a token", revokeToken}};
  return runAction(kTokenCommand, "Tokens with which hosts join; docs/keys.md.", actions,
                   arguments);
}

}  // namespace pingloom::cli
