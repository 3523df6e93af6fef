#include "pinglist/pinglist.h"

#include "common/file.h"
#include "common/text.h"
#include "common/yaml.h"
#include "pinglist/forms.h"

namespace pingloom::pinglist {
namespace {

constexpr std::size_t kMaxFileBytes = 64U << 20;

bool hasAny(const yaml::Node& root, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (root.find(key)) return true;
  }
  return false;
}

Result<Pinglist> parseRoot(const yaml::Node& root, std::string_view file, Nanos now_utc,
                           Warnings& warnings) {
  if (root.isNull()) {
    return makeError(file, "the pinglist is empty; write at least 'version: 1' and 'probes: []'");
  }
  if (!root.isMap()) return root.error("expected a pinglist: 'version: 1' and 'probes:'");
  const bool native = hasAny(root, {"version", "defaults", "hosts", "groups", "probes"});
  if (!native && hasAny(root, {"mesh", "arrow"})) return parsePingWeave(root, warnings);
  return parseNative(root, now_utc, warnings);
}

}  // namespace

std::string Pinglist::nameOf(const IpAddress& address) const {
  const auto found = names.find(address);
  return found == names.end() ? address.text() : found->second;
}

Result<Pinglist> parse(std::string_view text, std::string_view file, Nanos now_utc) {
  const auto root = yaml::parse(text, file);
  if (!root) {
    Error error = root.error();
    // This is the error for [10.0.0.[3-64]] without quotes.
    if (error.reason.find("flow not found") != std::string::npos) {
      error.reason += "; between brackets a range needs quotes: \"10.0.0.[3-64]\"";
    }
    return tl::unexpected(std::move(error));
  }
  Warnings warnings;
  auto made = parseRoot(*root, file, now_utc, warnings);
  if (!made) {
    Error error = made.error();
    shorten(error.reason, kMaxComplaintBytes);
    return tl::unexpected(std::move(error));
  }
  made->warnings = warnings.take();
  for (std::string& warning : made->warnings) shorten(warning, kMaxComplaintBytes);
  return made;
}

Result<Pinglist> load(const std::string& path) {
  const auto text = readFile(path, kMaxFileBytes);
  if (!text) return tl::unexpected(text.error());
  return parse(*text, path);
}

}  // namespace pingloom::pinglist
