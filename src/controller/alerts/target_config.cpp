#include "controller/alerts/target_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "common/config_reader.h"
#include "common/text.h"
#include "http/url.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxAlertWord = 256;
constexpr std::size_t kMaxAlertUrl = 2048;
constexpr std::size_t kMaxAlertList = 64;
constexpr const char* kPagerdutyUrl = "https://events.pagerduty.com/v2/enqueue";

std::vector<std::string_view> listOf(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

// Reads one of `names` and returns its place among them.
Result<std::size_t> readOneOf(const yaml::Node& node, std::span<const std::string_view> names) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == *text) return i;
  }
  const std::vector<std::string> accepted(names.begin(), names.end());
  return node.error("'" + *text + "' is not one of " + join(accepted, ", ") +
                    didYouMean(*text, listOf(names)));
}

// Reads a list that has something in it.
template <typename Read>
Status readAlertList(const yaml::Node& node, const char* example, Read read) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty() || items.size() > kMaxAlertList) {
    return node.error(fmt::format("is a list of 1 to {}, such as {}", kMaxAlertList, example));
  }
  for (const yaml::Node& item : items) {
    if (Status status = read(item); !status) return status;
  }
  return {};
}

Status readTargetName(const yaml::Node& node, AlertTarget& target) {
  if (auto read = readText(node, AlertTarget::kMaxName, target.name); !read) return read;
  for (const char c : target.name) {
    const bool taken = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!taken) return node.error("'" + target.name + "' may only have a-z, 0-9, _ and -");
  }
  return {};
}

Status readAlertKind(const yaml::Node& node, AlertTarget& target) {
  const auto read = readOneOf(node, kAlertKindNames);
  if (!read) return tl::unexpected(read.error());
  target.kind = static_cast<AlertKind>(*read);
  return {};
}

Status readAlertUrl(const yaml::Node& node, AlertTarget& target) {
  std::string text;
  if (auto read = readText(node, kMaxAlertUrl, text); !read) return read;
  if (auto fault = checkAlertUrl(text); !fault.empty()) return node.error(fault);
  if (std::find(target.urls.begin(), target.urls.end(), text) != target.urls.end()) {
    return node.error("is listed twice");
  }
  target.urls.push_back(std::move(text));
  return {};
}

Status readAlertUrls(const yaml::Node& node, AlertTarget& target) {
  if (!target.urls.empty()) return node.error("is written instead of 'url', not beside it");
  return readAlertList(node, "[https://am1:9093, https://am2:9093]",
                       [&](const yaml::Node& item) { return readAlertUrl(item, target); });
}

Status readAlertSeverities(const yaml::Node& node, AlertTarget& target) {
  target.severities.clear();
  const auto names = std::span(kSeverityNames).subspan(static_cast<std::size_t>(Severity::kSlow));
  return readAlertList(node, "[very slow, lossy, down]", [&](const yaml::Node& item) -> Status {
    const auto read = readOneOf(item, names);
    if (!read) return tl::unexpected(read.error());
    target.severities.push_back(
        static_cast<Severity>(*read + static_cast<std::size_t>(Severity::kSlow)));
    return {};
  });
}

Status readCulpritKinds(const yaml::Node& node, AlertTarget& target) {
  return readAlertList(node, "[host, group]", [&](const yaml::Node& item) -> Status {
    const auto read = readOneOf(item, kCulpritKindNames);
    if (!read) return tl::unexpected(read.error());
    target.kinds.push_back(static_cast<CulpritKind>(*read));
    return {};
  });
}

Status readAlertProbes(const yaml::Node& node, AlertTarget& target) {
  return readAlertList(node, "[rdma, udp]", [&](const yaml::Node& item) {
    return readText(item, kMaxAlertWord, target.probes.emplace_back());
  });
}

Status readAlertLabels(const yaml::Node& node, AlertTarget& target) {
  const auto entries = node.entries();
  if (!node.isMap() || entries.empty() || entries.size() > kMaxAlertList) {
    return node.error("is a map of labels, such as { rack: r1 }");
  }
  if (auto unique = node.uniqueKeys(); !unique) return unique;
  for (const auto& [key, value] : entries) {
    std::string label;
    if (auto read = readText(key, kMaxAlertWord, label); !read) return read;
    if (auto read = readText(value, kMaxAlertWord, target.labels[label]); !read) return read;
  }
  return {};
}

Status readArgv(const yaml::Node& node, AlertTarget& target) {
  auto read = readAlertList(node, "[/usr/local/bin/page, --now]", [&](const yaml::Node& item) {
    return readText(item, 4096, target.argv.emplace_back());
  });
  if (!read) return read;
  if (target.argv.front().front() != '/') {
    return node.items().front().error("is no absolute path; a command is run without a shell");
  }
  return {};
}

constexpr auto kAlertKeys = std::to_array<ConfigKey<AlertTarget>>({
    {"name", readTargetName},
    {"kind", readAlertKind},
    {"url", readAlertUrl},
    {"urls", readAlertUrls},
    {"url_file", readField<&AlertTarget::url_file>},
    {"severities", readAlertSeverities},
    {"kinds", readCulpritKinds},
    {"probes", readAlertProbes},
    {"labels", readAlertLabels},
    {"token_file", readField<&AlertTarget::secret_file>},
    {"secret_file", readField<&AlertTarget::secret_file>},
    {"ca_file", readField<&AlertTarget::ca_file>},
    {"argv", readArgv},
});

// The keys that only some kinds have, in the order of AlertKind.
constexpr std::array<std::string_view, kAlertKindNames.size()> kKeysOfKind = {
    "url urls token_file ca_file", "url url_file token_file ca_file", "url secret_file ca_file",
    "url url_file ca_file", "argv"};

bool hasKey(AlertKind kind, std::string_view key) {
  const std::string keys = fmt::format(" {} ", kKeysOfKind[static_cast<std::size_t>(kind)]);
  return keys.find(fmt::format(" {} ", key)) != std::string::npos;
}

Status checkKeysOfKind(const yaml::Node& node, const AlertTarget& target) {
  for (const char* key :
       {"url", "urls", "url_file", "token_file", "secret_file", "ca_file", "argv"}) {
    const auto value = node.find(key);
    if (!value || hasKey(target.kind, key)) continue;
    std::string accepted(kKeysOfKind[static_cast<std::size_t>(target.kind)]);
    return value->error(
        fmt::format("is not for the kind '{}', which takes: {}", name(target.kind), accepted));
  }
  return {};
}

Status completeTarget(const yaml::Node& node, AlertTarget& target) {
  if (target.name.empty()) return node.error("'name' is missing");
  if (!node.find("kind")) {
    return node.error("'kind' is missing: alertmanager, webhook, pagerduty, slack or command");
  }
  if (auto checked = checkKeysOfKind(node, target); !checked) return checked;
  const bool from_file = !target.url_file.empty();
  switch (target.kind) {
    case AlertKind::kCommand:
      if (target.argv.empty()) return node.error("'argv' is missing: the command and its options");
      return {};
    case AlertKind::kPagerduty:
      if (target.secret_file.empty()) {
        return node.error("'secret_file' is missing: the file with the routing key");
      }
      if (target.urls.empty()) target.urls.emplace_back(kPagerdutyUrl);
      return {};
    case AlertKind::kAlertmanager:
      if (target.urls.empty()) return node.error("'url' or 'urls' is missing");
      return {};
    case AlertKind::kWebhook:
    case AlertKind::kSlack:
      break;
  }
  if (target.urls.empty() == from_file) return {};
  return node.error(from_file ? "has both 'url' and 'url_file'; leave one out"
                              : "'url' or 'url_file' is missing");
}

}  // namespace

std::string checkAlertUrl(const std::string& text) {
  const auto url = http::parseUrl(text);
  if (!url) return url.error().reason;
  if (!isOneWord(text)) return "contains a space or a control character";
  if (url->authority.find_first_of("?#@\\") != std::string::npos) {
    return "the host must be followed by a port or a path";
  }
  return "";
}

Status readAlertTargets(const yaml::Node& node, std::vector<AlertTarget>& out) {
  const auto items = node.items();
  if (!node.isSequence()) return node.error("is a list of targets; docs/alerts.md has examples");
  std::size_t lanes = 0;
  for (const yaml::Node& item : items) {
    AlertTarget target;
    if (auto read = readMap(item, kAlertKeys, target); !read) return read;
    if (auto completed = completeTarget(item, target); !completed) return completed;
    const auto same = [&](const AlertTarget& other) { return other.name == target.name; };
    if (std::any_of(out.begin(), out.end(), same)) {
      return item.error("another target has the name '" + target.name + "'");
    }
    lanes += target.lanes();
    if (lanes > AlertTarget::kMax) {
      return item.error(
          fmt::format("there are more than {} targets; each URL counts", AlertTarget::kMax));
    }
    out.push_back(std::move(target));
  }
  return {};
}

}  // namespace pingloom::controller
