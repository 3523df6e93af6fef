#include "collector/push/push_config.h"

#include <array>
#include <string_view>

#include "common/config_reader.h"
#include "common/text.h"
#include "http/url.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxPushUrl = 2000;  // bytes
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

constexpr auto kTargetKeys = std::to_array<ConfigKey<PushTarget>>({
    {"url", readPushUrl},
    {"interval",
     [](const yaml::Node& node, PushTarget& target) {
       return readDuration(node, kMinPushInterval, kMaxPushInterval, target.interval);
     }},
    {"token", readField<&PushTarget::token>},
    {"ca", readField<&PushTarget::ca>},
});

constexpr auto kPushKeys = std::to_array<ConfigKey<PushSettings>>({
    {"remote_write", readField<&PushSettings::remote_write>},
    {"otlp", readField<&PushSettings::otlp>},
});

}  // namespace

Status readValue(const yaml::Node& node, PushTarget& target) {
  if (auto status = readMap(node, kTargetKeys, target); !status) return status;
  if (!target.url.empty()) return {};
  return node.error("'url' is missing: where the metrics are pushed to");
}

Status readValue(const yaml::Node& node, PushSettings& settings) {
  return readMap(node, kPushKeys, settings);
}

}  // namespace pingloom::collector
