#include "agent/join_request.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "agent/own_addresses.h"
#include "common/backoff.h"
#include "common/file.h"
#include "common/log.h"
#include "common/secret_file.h"
#include "common/text.h"
#include "keys/join_client.h"
#include "keys/key_file.h"

namespace pingloom::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTokenFile = 4096;
constexpr Nanos kAttempt = 10 * kSecond;
constexpr Nanos kMaxPause = kMinute;

// Each cause is logged once; one that a person can remove, such as a used token, may last.
void waitUntilJoined(const Config& config, const keys::JoinToken& token, const net::CurveKey& key) {
  Backoff pause(kSecond, kMaxPause);
  std::size_t attempt = 0;
  for (std::string said;;) {
    // The addresses may come later than the agent.
    const auto request = joinRequestOf(config, key);
    std::string trouble = "this host has no address yet";
    if (!request.addresses.empty()) {
      const auto decision = keys::askToJoin(
          config.controllers[attempt++ % config.controllers.size()], token, request, kAttempt);
      if (decision && decision->outcome == wire::JoinReply::AUTHORIZED) return;
      if (decision && decision->outcome == wire::JoinReply::WAITING) {
        log::warning("join: the key {} waits to be approved at the controller: {}", key.text(),
                     decision->text);
        return;
      }
      trouble = decision ? "the controller refuses: " + decision->text : decision.error().text();
    }
    if (trouble != said) log::warning("join: {}; trying again", trouble);
    said = trouble;
    std::this_thread::sleep_for(std::chrono::nanoseconds(pause.fail()));
  }
}

}  // namespace

keys::JoinRequest joinRequestOf(const Config& config, const net::CurveKey& key) {
  keys::JoinRequest request(key);
  request.host = config.host;
  request.machine = machineAddresses();
  request.addresses = config.addresses.empty() ? request.machine : config.addresses;
  const bool pages =
      config.pages && config.pages->address && announcesPages(config, *config.pages->address);
  const auto at = pages ? std::lower_bound(request.addresses.begin(), request.addresses.end(),
                                           *config.pages->address)
                        : request.addresses.end();
  if (pages && (at == request.addresses.end() || *at != *config.pages->address)) {
    request.addresses.insert(at, *config.pages->address);
  }
  return request;
}

// The key gets its name when it has been accepted, so a start that was interrupted begins again.
Status joinOnce(Config& config) {
  if (!config.keys || config.keys->join.empty()) return {};
  KeysConfig& keys = *config.keys;
  std::error_code ignored;
  if (!keys.controller.empty() && fs::exists(keys.secret, ignored)) return {};
  const auto text = readSecretFile(keys.join, kMaxTokenFile);
  if (!text) return tl::unexpected(text.error());
  const auto token = keys::JoinToken::parse(trimmed(*text));
  if (!token) return makeError(keys.join.string(), token.error().reason);
  const fs::path fresh = keys.secret.string() + ".new";
  if (!fs::exists(keys.secret, ignored) && !fs::exists(fresh, ignored)) {
    auto wrote = keys::writeKeyPair(fresh, net::CurvePair::generate());
    if (!wrote) return wrote;
  }
  const auto own = keys::readSecretKey(fs::exists(keys.secret, ignored) ? keys.secret : fresh);
  if (!own) return tl::unexpected(own.error());
  waitUntilJoined(config, *token, own->public_key);
  const std::string controller = std::string(token->controller.text()) + "\n";
  if (auto wrote = writeFileAtomic(controllerKeyFile(keys), controller); !wrote) return wrote;
  if (fs::exists(fresh, ignored)) {
    fs::rename(fresh.string() + ".pub", keys.secret.string() + ".pub", ignored);
    std::error_code error;
    fs::rename(fresh, keys.secret, error);
    if (error) return makeError(keys.secret.string(), error.message());
  }
  keys.controller = {token->controller};
  return {};
}

}  // namespace pingloom::agent
