#include "common/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "common/text.h"

namespace pingloom {
namespace {

namespace fs = std::filesystem;

// The scalar's text, parsed.
template <typename Value, typename Parse>
Status readParsed(const yaml::Node& node, Parse parse, Value& out) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  auto parsed = parse(*text);
  if (!parsed) return node.error(parsed.error().text());
  out = std::move(*parsed);
  return {};
}

tl::unexpected<Error> outside(const yaml::Node& node, std::string_view what,
                              std::string_view range) {
  return node.error("'" + node.text().value_or("") + "' is not a " + std::string(what) + " " +
                    std::string(range));
}

}  // namespace

fs::path resolvePath(const yaml::Node& node, std::string_view written) {
  std::error_code ignored;
  return (fs::absolute(node.file(), ignored).parent_path() / written).lexically_normal();
}

Status readValue(const yaml::Node& node, fs::path& out) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) return node.error("is empty; write a path");
  out = resolvePath(node, *text);
  return {};
}

Status readValue(const yaml::Node& node, IpAddress& out) {
  return readParsed(node, IpAddress::parse, out);
}

Status readValue(const yaml::Node& node, SocketAddress& out) {
  return readParsed(node, SocketAddress::parse, out);
}

Status readValue(const yaml::Node& node, log::Level& out) {
  return readParsed(node, log::parseLevel, out);
}

Status readLogLevel(const yaml::Node& node, log::Levels& out) { return readValue(node, out.level); }

Status readValue(const yaml::Node& node, log::Levels& out) {
  std::vector<std::string_view> keys(log::kComponents.begin() + 1, log::kComponents.end());
  keys.emplace_back("level");
  if (!node.isMap()) return node.error("expected levels, such as { level: info, rdma: debug }");
  for (const auto& [key, value] : node.entries()) {
    const auto name = key.text();
    if (!name) return tl::unexpected(name.error());
    if (std::find(keys.begin(), keys.end(), *name) == keys.end()) {
      return key.error("'" + *name + "' is no component" + didYouMean(*name, keys) +
                       "; there are " + join({keys.begin(), keys.end() - 1}, ", ") +
                       ", and level for all others");
    }
  }
  if (auto status = node.onlyKeys(keys); !status) return status;
  if (const auto all = node.find("level")) {
    if (auto status = readValue(*all, out.level); !status) return status;
  }
  for (std::size_t i = 1; i < log::kComponents.size(); ++i) {
    const auto own = node.find(log::kComponents[i]);
    if (!own) continue;
    if (auto status = readValue(*own, out.own[i].emplace()); !status) return status;
  }
  return {};
}

Status readValue(const yaml::Node& node, bool& out) {
  const auto value = node.boolean();
  if (!value) return tl::unexpected(value.error());
  out = *value;
  return {};
}

Status readText(const yaml::Node& node, std::size_t most_bytes, std::string& out) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (text->empty() || text->size() > most_bytes) {
    return node.error("has 1 to " + std::to_string(most_bytes) + " characters");
  }
  out = std::move(*text);
  return {};
}

Status readSize(const yaml::Node& node, std::uint64_t least, std::uint64_t most,
                std::uint64_t& out) {
  std::uint64_t size = 0;
  if (auto status = readParsed(node, parseSize, size); !status) return status;
  if (size < least || size > most) {
    return outside(node, "size",
                   most == kMaxSize ? "of at least " + formatSize(least)
                                    : "from " + formatSize(least) + " to " + formatSize(most));
  }
  out = size;
  return {};
}

Status readReal(const yaml::Node& node, double& out) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  double value = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, failed] = std::from_chars(text->data(), end, value);
  if (failed != std::errc() || rest != end || !std::isfinite(value)) {
    return node.error("'" + *text + "' is no number");
  }
  out = value;
  return {};
}

Status readReal(const yaml::Node& node, double least, double most, double& out) {
  double value = 0;
  if (auto status = readReal(node, value); !status) return status;
  if (value < least || value > most) {
    return outside(node, "number", fmt::format("from {} to {}", least, most));
  }
  out = value;
  return {};
}

Status readDuration(const yaml::Node& node, Nanos least, Nanos most, Nanos& out) {
  const auto duration = node.duration();
  if (!duration) return tl::unexpected(duration.error());
  if (*duration < least || *duration > most) {
    return outside(node, "duration",
                   "from " + formatDuration(least) + " to " + formatDuration(most));
  }
  out = *duration;
  return {};
}

}  // namespace pingloom
