#include "controller/alerts/delivery.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/secret_file.h"
#include "common/text.h"
#include "controller/alerts/command.h"
#include "controller/alerts/payload.h"
#include "controller/alerts/target_config.h"
#include "http/client.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxSecret = 4096;
constexpr std::string_view kAlertsPath = "/api/v2/alerts";

// Reads a file whose only word is a secret. It is read for each attempt, so it may be replaced.
Result<std::string> readSecretWord(const std::filesystem::path& file) {
  if (file.empty()) return "";
  auto text = readSecretFile(file, kMaxSecret);
  if (!text) return text;
  const std::string_view word = trimmed(*text);
  if (word.empty() || !isOneWord(word)) {
    return makeError(file.string(), "must have one word, the secret");
  }
  return std::string(word);
}

DeliveryResult failedDelivery(const Error& error) {
  DeliveryResult made;
  made.error = error.text();
  return made;
}

// Makes text from outside fit for logs and JSON.
std::string shownAnswer(std::string text) {
  if (text.size() > kMaxShownAnswer) text.resize(kMaxShownAnswer);
  // A character that was cut in two is not shown.
  if (const auto invalid = invalidUtf8At(text); invalid != std::string_view::npos) {
    text.resize(invalid);
  }
  for (char& c : text) {
    if (hasControls({&c, 1}) && c != '\n') c = ' ';
  }
  return text;
}

// Splits a URL after its host.
std::pair<std::string, std::string> splitUrl(const std::string& url) {
  const std::size_t host = url.find("//") + 2;
  const std::size_t slash = std::min(url.find('/', host), url.size());
  std::string path = url.substr(slash);
  if (path.empty()) path = "/";
  return {url.substr(0, slash), std::move(path)};
}

DeliveryResult answerResult(const Result<http::ClientResponse>& answer, const std::string& place) {
  if (!answer) return failedDelivery(answer.error());
  DeliveryResult made;
  made.status = answer->status;
  made.answer = shownAnswer(answer->body);
  made.delivered = answer->status >= 200 && answer->status < 300;
  if (made.delivered) return made;
  made.permanent = answer->status >= 400 && answer->status < 500 && answer->status != 408 &&
                   answer->status != 429;
  const bool redirected = answer->status >= 300 && answer->status < 400;
  std::string words = made.answer.substr(0, made.answer.find('\n'));
  made.error = fmt::format("{}: answered {}{}{}", place, answer->status,
                           redirected ? ", a redirect, which is not followed" : "",
                           words.empty() ? "" : ": " + words);
  return made;
}

DeliveryResult postTo(const AlertTarget& target, const std::string& url, std::string token,
                      const Notification& notification, std::string body,
                      const std::atomic<bool>& cancelled) {
  auto [site_url, path] = splitUrl(url);
  if (target.kind == AlertKind::kAlertmanager) {
    while (path.ends_with('/')) path.pop_back();
    path += kAlertsPath;
  }
  http::ClientRequest request;
  request.path_and_query = std::move(path);
  request.body = std::move(body);
  request.headers = {{"Idempotency-Key", notification.key}};
  request.entity = site_url;
  request.cancelled = &cancelled;
  const http::Site site{site_url, std::move(token), target.ca_file, "'ca_file'"};
  return answerResult(http::send(site, request, kDeliveryTimeout), site_url);
}

DeliveryResult runTarget(const AlertTarget& target, const Notification& notification,
                         const std::atomic<bool>& cancelled) {
  const auto ended =
      runCommand(target.argv, webhookBody(notification, target.name), kDeliveryTimeout, cancelled);
  if (!ended) return failedDelivery(ended.error());
  DeliveryResult made;
  made.answer = shownAnswer(ended->output);
  made.delivered = ended->exit_code == 0;
  if (!made.delivered) {
    made.error = fmt::format("{}: ended with exit code {}", target.argv.front(), ended->exit_code);
  }
  return made;
}

}  // namespace

std::string placeName(const AlertTarget& target, const std::string& url) {
  if (target.kind == AlertKind::kCommand) return target.argv.front();
  if (url.empty()) return "the URL in " + target.url_file.string();
  return splitUrl(url).first;
}

DeliveryResult deliver(const AlertTarget& target, const std::string& url,
                       const Notification& notification, const std::atomic<bool>& cancelled) {
  if (target.kind == AlertKind::kCommand) return runTarget(target, notification, cancelled);
  auto secret = readSecretWord(target.secret_file);
  if (!secret) return failedDelivery(secret.error());
  std::string to = url;
  if (to.empty()) {
    auto read = readSecretWord(target.url_file);
    if (!read) return failedDelivery(read.error());
    if (const auto fault = checkAlertUrl(*read); !fault.empty()) {
      return failedDelivery({target.url_file.string(), fault});
    }
    to = std::move(*read);
  }
  std::string body;
  switch (target.kind) {
    case AlertKind::kAlertmanager:
      body = alertmanagerBody(notification, utcNow());
      break;
    case AlertKind::kPagerduty:
      body = pagerdutyBody(notification, *secret);
      secret->clear();  // it is no bearer token
      break;
    case AlertKind::kSlack:
      body = slackBody(notification);
      break;
    case AlertKind::kWebhook:
    case AlertKind::kCommand:
      body = webhookBody(notification, target.name);
      break;
  }
  return postTo(target, to, std::move(*secret), notification, std::move(body), cancelled);
}

}  // namespace pingloom::controller
