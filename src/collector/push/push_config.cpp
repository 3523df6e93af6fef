#include "collector/push/push_config.h"

#include <array>
#include <string_view>

#include "collector/exposition.h"
#include "common/config_reader.h"
#include "common/text.h"
#include "http/url.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxPushUrl = 2000;  // bytes
constexpr std::size_t kMaxPushUser = 256;  // bytes
constexpr Nanos kMinPushInterval = kSecond;
constexpr Nanos kMaxPushInterval = kHour;

Status readPushUrl(const yaml::Node& node, PushTarget& target) {
  if (auto status = readText(node, kMaxPushUrl, target.url); !status) return status;
  const auto url = http::parseUrl(target.url);
  if (!url) return node.error(url.error().text());
  if (!isOneWord(target.url) || url->authority.find_first_of("?#@\\") != std::string::npos) {
    return node.error("write http[s]://HOST[:PORT]/PATH without spaces and users");
  }
  if (url->prefix.empty()) {
    return node.error(
        "has no path; write the whole URL, such as https://HOST/api/v1/write for "
        "remote_write or https://HOST:4318/v1/metrics for otlp");
  }
  return {};
}

// The user's name ends at the first ':' of what is sent.
Status readUser(const yaml::Node& node, PushTarget& target) {
  if (auto status = readText(node, kMaxPushUser, target.user); !status) return status;
  if (target.user.find(':') == std::string::npos && !hasControls(target.user)) return {};
  return node.error("a user's name has no ':' and no control characters");
}

Status readHistograms(const yaml::Node& node, PushTarget& target) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto exact = exactHistograms(*text);
  if (!exact) return node.error(kHistogramWords);
  target.exact_histograms = *exact;
  return {};
}

constexpr auto kTargetKeys = std::to_array<ConfigKey<PushTarget>>({
    {"url", readPushUrl},
    {"interval",
     [](const yaml::Node& node, PushTarget& target) {
       return readDuration(node, kMinPushInterval, kMaxPushInterval, target.interval);
     }},
    {"token", readField<&PushTarget::token>},
    {"user", readUser},
    {"password", readField<&PushTarget::password>},
    {"ca", readField<&PushTarget::ca>},
    {"histograms", readHistograms},
});

constexpr auto kPushKeys = std::to_array<ConfigKey<PushSettings>>({
    {"remote_write", readField<&PushSettings::remote_write>},
    {"otlp", readField<&PushSettings::otlp>},
});

}  // namespace

Status readValue(const yaml::Node& node, PushTarget& target) {
  if (auto status = readMap(node, kTargetKeys, target); !status) return status;
  if (target.url.empty()) {
    return node.error("'url' is missing: where the metrics are pushed to");
  }
  if (target.user.empty() != target.password.empty()) {
    return node.error("'user' and 'password', a file, belong together");
  }
  if (!target.user.empty() && !target.token.empty()) {
    return node.error("has a token and a user; a request can have only one of them");
  }
  return {};
}

Status readValue(const yaml::Node& node, PushSettings& settings) {
  return readMap(node, kPushKeys, settings);
}

}  // namespace pingloom::collector
