// pingloom keys join: has this host's key authorised with a token. pingloom keys prepare: the
// controller's side, which has to be done once before.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <iostream>

#include "agent/join_request.h"
#include "cli/failure.h"
#include "cli/input_file.h"
#include "cli/keys_usage.h"
#include "cli/text_table.h"
#include "collector/config.h"
#include "common/file.h"
#include "common/text.h"
#include "http/url.h"
#include "keys/authorized_file.h"
#include "keys/join_client.h"
#include "keys/key_file.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr const char* kJoinCommand = "pingloom keys join";
constexpr int kExitWaiting = 3;
constexpr Nanos kTimeout = 30 * kSecond;
constexpr std::size_t kMaxTokenFile = 4096;

// What joins: the request without its key, the controller, and where the key is.
struct Joiner {
  keys::JoinRequest request{net::CurvePair::generate().public_key};
  std::string controller;
  fs::path secret;
};

Result<keys::JoinToken> tokenOf(const std::string& token_or_file) {
  const auto content = readFile(token_or_file, kMaxTokenFile);
  const std::string text(content ? trimmed(*content) : token_or_file);
  auto token = keys::JoinToken::parse(text);
  // The word is not repeated, because it may be a secret.
  if (!token) return makeError(content ? token_or_file : "TOKEN", token.error().reason);
  return token;
}

Result<Joiner> joiningAgent(const std::string& file) {
  const auto text = readInputFile(file);
  if (!text) return tl::unexpected(text.error());
  const auto config = agent::parseConfig(*text, file);
  if (!config) return tl::unexpected(config.error());
  Joiner joiner;
  joiner.request = agent::joinRequestOf(*config, joiner.request.key);
  if (joiner.request.addresses.empty()) {
    return makeError(file, "this host has no address; write 'addresses: [ADDRESS]'");
  }
  joiner.controller = config->controllers.front();
  joiner.secret = config->keys ? config->keys->secret : "/etc/pingloom/keys/agent.key";
  return joiner;
}

Result<Joiner> joiningCollector(const std::string& file) {
  const auto text = readInputFile(file);
  if (!text) return tl::unexpected(text.error());
  const auto config = collector::parseConfig(*text, file);
  if (!config) return tl::unexpected(config.error());
  Joiner joiner;
  joiner.request.role = keys::Role::kCollector;
  joiner.request.host = config->name;
  if (!config->controllers.empty()) {
    const auto url = http::parseUrl(config->controllers.front());  // parseConfig() has checked it
    const bool v6 = url->host.find(':') != std::string::npos;
    joiner.controller =
        (v6 ? "[" + url->host + "]" : url->host) + ":" + std::to_string(wire::kDefaultControlPort);
  }
  joiner.secret = config->keys ? config->keys->secret : "/etc/pingloom/keys/collector.key";
  return joiner;
}

Result<Joiner> joinerOf(const po::variables_map& values) {
  const auto role = keys::parseRole(values["role"].as<std::string>());
  if (!role) return makeError("--role " + role.error().entity, role.error().reason);
  const std::string name(keys::name(*role));
  const std::string file = values.count("config") != 0 ? values["config"].as<std::string>()
                                                       : "/etc/pingloom/" + name + ".yaml";
  auto joiner = *role == keys::Role::kAgent ? joiningAgent(file) : joiningCollector(file);
  if (!joiner) return joiner;
  if (values.count("key") != 0) joiner->secret = values["key"].as<std::string>();
  if (values.count("controller") != 0) {
    const auto controller = agent::parseController(values["controller"].as<std::string>());
    if (!controller) return makeError("--controller", controller.error().text());
    joiner->controller = *controller;
  }
  if (joiner->controller.empty()) {
    return makeError("--controller", "is missing: where agents reach the controller");
  }
  return joiner;
}

// A key that is there already is used again, so that joining twice changes nothing.
Result<net::CurvePair> ownKey(const fs::path& file, bool& made) {
  std::error_code ignored;
  made = !fs::exists(file, ignored);
  if (!made) return keys::readSecretKey(file);
  const auto pair = net::CurvePair::generate();
  if (auto wrote = keys::writeKeyPair(file, pair); !wrote) return tl::unexpected(wrote.error());
  return pair;
}

int reportJoin(const Joiner& joiner, const keys::JoinToken& token,
               const keys::JoinDecision& decision) {
  const auto& request = joiner.request;
  std::string told;
  int code = 0;
  switch (decision.outcome) {
    case wire::JoinReply::AUTHORIZED:
      told = fmt::format("the key {} is authorised", request.key.text());
      break;
    case wire::JoinReply::WAITING:
      code = kExitWaiting;
      told = fmt::format("the key {} waits ({}): run `pingloom keys approve {}` at the controller",
                         request.key.text(), printable(decision.text), request.host);
      break;
    default:
      return failKeys({"controller " + joiner.controller,
                       "refuses '" + request.host + "': " + printable(decision.text)});
  }
  complain(kJoinCommand, {"note", told});
  const std::string secret = "\"" + fs::absolute(joiner.secret).string() + "\"";
  if (request.role == keys::Role::kCollector) {
    std::cout << "keys: { secret: " << secret << " }\n";
  } else {
    std::cout << "keys: { secret: " << secret << ", controller: '" << token.controller.text()
              << "' }\n";
  }
  return code;
}

int failJoin(const Error& error, const fs::path& secret, bool made) {
  std::error_code ignored;
  if (made) {  // a key that nobody knows is of no use
    fs::remove(secret, ignored);
    fs::remove(secret.string() + ".pub", ignored);
  }
  return failKeys(error);
}

}  // namespace

int joinWithKey(const Arguments& arguments) {
  KeysUsage action(
      "join", "[--role agent|collector] [--controller HOST[:PORT]] [--config FILE] TOKEN|FILE",
      "Has this host's key authorised by the controller that made TOKEN, and prints the line that\n"
      "belongs into the configuration. It makes the key if there is none. Joining again is no\n"
      "change, or adds addresses that the host has since. If the token asks for approval, the key\n"
      "is in force once `pingloom keys approve` has named it, and the exit code is 3.");
  action.options.add_options()("role", po::value<std::string>()->default_value("agent"),
                               "agent or collector")(
      "controller", po::value<std::string>()->value_name("HOST[:PORT]"),
      "where agents reach the controller; default: as in the configuration")(
      "config", po::value<std::string>()->value_name("FILE"),
      "this host's configuration; default: /etc/pingloom/ROLE.yaml")(
      "key", po::value<std::string>()->value_name("FILE"),
      "the secret key; default: as in the configuration, or /etc/pingloom/keys/ROLE.key");
  action.takesArgument("token", "the token, or a file that has it");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto token = tokenOf(values["token"].as<std::string>());
  if (!token) return fail(kJoinCommand, token.error(), program::kExitUsage);
  auto joiner = joinerOf(values);
  if (!joiner) return fail(kJoinCommand, joiner.error(), program::kExitUsage);
  bool made = false;
  const auto own = ownKey(joiner->secret, made);
  if (!own) return failKeys(own.error());
  joiner->request.key = own->public_key;
  const auto decision = keys::askToJoin(joiner->controller, *token, joiner->request, kTimeout);
  if (decision) return reportJoin(*joiner, *token, *decision);
  // The token may be used up because this host has joined with it.
  const bool joined_before =
      !made && joiner->request.role == keys::Role::kAgent &&
      keys::letsIn(joiner->controller, token->controller, *own, kTimeout).value_or(false);
  if (joined_before) return reportJoin(*joiner, *token, {wire::JoinReply::AUTHORIZED, ""});
  return failJoin(decision.error(), joiner->secret, made);
}

int prepareController(const Arguments& arguments) {
  KeysUsage action(
      "prepare", "--key FILE --file FILE",
      "Makes a controller's key and an empty list of authorised keys, unless they are\n"
      "there, and prints the line that belongs into its configuration.");
  action.options.add_options()("key", po::value<std::string>()->required()->value_name("FILE"),
                               "the secret key")(
      "file,f", po::value<std::string>()->required()->value_name("FILE"),
      "the list, which the controller's user has to be able to replace");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const fs::path secret = fs::absolute(values["key"].as<std::string>());
  const fs::path list = fs::absolute(values["file"].as<std::string>());
  bool made = false;
  if (const auto own = ownKey(secret, made); !own) return failKeys(own.error());
  const auto changed =
      keys::changeAuthorizedKeys(list, true, [](keys::AuthorizedKeys&) -> Status { return {}; });
  if (!changed) return failKeys(changed.error());
  std::cout << "keys: { secret: \"" << secret.string() << "\", authorized: \"" << list.string()
            << "\" }\n";
  return 0;
}

}  // namespace pingloom::cli
