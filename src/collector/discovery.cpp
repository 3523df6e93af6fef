#include "collector/discovery.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "collector/config.h"
#include "common/address.h"
#include "common/json_text.h"
#include "common/log.h"
#include "common/text.h"
#include "http/client.h"
#include "http/tokens.h"

namespace pingloom::collector {
namespace {

constexpr Nanos kControllerTimeout = 5 * kSecond;
constexpr std::size_t kMaxReason = 500;  // bytes

}  // namespace

Result<std::vector<FoundAgent>> agentsOf(std::string_view hosts_json, std::size_t most) {
  const auto json = nlohmann::json::parse(hosts_json, nullptr, false);
  const auto hosts = json.find("hosts");
  if (!json.is_object() || hosts == json.end() || !hosts->is_array()) {
    return makeError("controller", "its answer lists no hosts");
  }
  // The list includes hosts that are gone, with their former endpoints; a present host takes
  // precedence.
  std::map<std::string, std::pair<bool, FoundAgent>> agents;
  for (const auto& host : *hosts) {
    if (!host.is_object()) continue;
    const auto pages = host.find("pages");
    if (pages == host.end() || !pages->is_string()) continue;
    const auto address = SocketAddress::parse(pages->get<std::string>());
    if (!address || agents.size() >= most) continue;
    const auto alive_field = host.find("alive");
    const bool alive = alive_field != host.end() && *alive_field == true;
    FoundAgent found{address->text(), std::nullopt};
    const auto key = host.find("public_key");
    if (key != host.end() && key->is_string()) {
      const auto parsed = net::CurveKey::parse(key->get<std::string>());
      if (parsed) found.key = *parsed;
    }
    const auto before = agents.find(found.agent);
    if (before != agents.end() && (before->second.first || !alive)) continue;
    agents.insert_or_assign(found.agent, std::pair(alive, found));
  }
  std::vector<FoundAgent> all;
  all.reserve(agents.size());
  for (auto& [address, found] : agents) all.push_back(std::move(found.second));
  return all;
}

Discovery::Discovery(std::vector<http::Site> controllers, std::filesystem::path token_file,
                     Self self, Found found, Nanos interval)
    : token_file_(std::move(token_file)),
      self_(std::move(self)),
      found_(std::move(found)),
      interval_(interval),
      pause_(std::min(kRetry, interval), interval) {
  for (http::Site& site : controllers) controllers_.push_back({std::move(site)});
  thread_ = std::thread([this] { run(); });
}

Discovery::~Discovery() {
  cancelled_ = true;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

Result<http::Site> Discovery::siteOf(const Controller& controller) const {
  http::Site site = controller.site;
  if (token_file_.empty()) return site;
  auto token = http::loadToken(token_file_);
  if (!token) return tl::unexpected(token.error());
  site.token = std::move(*token);
  return site;
}

Result<std::vector<FoundAgent>> Discovery::ask(const Controller& controller) const {
  const auto to = siteOf(controller);
  if (!to) return tl::unexpected(to.error());
  http::ClientRequest request;
  request.method = "GET";
  request.path_and_query = "/api/v1/hosts";
  request.most_answer = http::kMaxClientBody;
  request.cancelled = &cancelled_;
  const auto answer = http::send(*to, request, kControllerTimeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status == 401 || answer->status == 403) {
    return makeError(to->url,
                     "does not let the collector in; write a 'controller_token: FILE' "
                     "with a token of the role collect");
  }
  if (answer->status != 200) {
    return makeError(to->url, "answers " + std::to_string(answer->status) +
                                  "; is it a pingloom controller's URL?");
  }
  return agentsOf(answer->body, kMaxAgents);
}

Status Discovery::announce(const Controller& controller) const {
  const auto to = siteOf(controller);
  if (!to) return tl::unexpected(to.error());
  http::ClientRequest request;
  request.cancelled = &cancelled_;
  request.path_and_query = "/api/v1/collectors";
  request.body = jsonLine(nlohmann::json{{"name", self_.name}, {"url", self_.url}});
  const auto answer = http::send(*to, request, kControllerTimeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status == 200) return {};
  if (answer->status == 404) return makeError(to->url, "takes no collectors; it is too old");
  const auto json = nlohmann::json::parse(answer->body, nullptr, false);
  const auto said = json.is_object() ? json.find("error") : json.end();
  const bool has_reason = said != json.end() && said->is_object() && said->contains("reason");
  std::string reason = "answers " + std::to_string(answer->status);
  if (has_reason && (*said)["reason"].is_string()) {
    reason += ": " + asOneLine((*said)["reason"].get<std::string>(), kMaxReason);
  }
  return makeError(to->url, reason);
}

// Returns the listed agents and those listed until recently, because a controller that has just
// started does not know its agents yet.
std::vector<FoundAgent> Discovery::withRecent(const std::vector<FoundAgent>& agents) {
  const Nanos now = monotonicNow();
  for (const FoundAgent& found : agents) listed_[found.agent] = {now, found.key};
  std::erase_if(listed_, [&](const auto& entry) { return now - entry.second.when > kForget; });
  std::vector<FoundAgent> all;
  for (const auto& [agent, listed] : listed_) all.push_back({agent, listed.key});
  return all;
}

void Discovery::take(const std::vector<FoundAgent>& agents) {
  auto recent = withRecent(agents);
  if (known_ == recent) return;
  known_ = std::move(recent);
  found_(*known_);
}

// Returns whether the controller takes the registration.
bool Discovery::announceTo(Controller& controller) const {
  const Status announced = announce(controller);
  if (!announced && announced.error().reason != controller.refuses && !cancelled_) {
    log::warning("{}; the controller's dashboard does not show what this collector reads",
                 announced.error().text());
  }
  controller.refuses = announced ? "" : announced.error().reason;
  return announced.has_value();
}

// The controller whose agents are read comes first. If it refuses, another one may show what this
// collector reads.
void Discovery::announceToOne() {
  for (std::size_t tried = 0; tried < controllers_.size() && !cancelled_; ++tried) {
    if (announceTo(controllers_[(at_ + tried) % controllers_.size()])) return;
  }
}

bool Discovery::askThem() {
  for (std::size_t tried = 0; tried < controllers_.size() && !cancelled_; ++tried) {
    Controller& controller = controllers_[at_];
    const auto agents = ask(controller);
    if (agents) {
      if (tried != 0) log::info("{} answers instead", controller.site.url);
      controller.silent.clear();
      take(*agents);
      announceToOne();
      return true;
    }
    if (agents.error().reason != controller.silent && !cancelled_) {
      log::warning("{}; the agents stay those that are known", agents.error().text());
    }
    controller.silent = agents.error().reason;
    at_ = (at_ + 1) % controllers_.size();
  }
  return false;
}

void Discovery::run() {
  pthread_setname_np(pthread_self(), "discovery");
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    const bool answered = askThem();
    if (answered) pause_.reset();
    const Nanos pause = answered ? interval_ : pause_.fail();
    lock.lock();
    wake_.wait_for(lock, std::chrono::nanoseconds(pause), [this] { return stop_; });
  }
}

}  // namespace pingloom::collector
