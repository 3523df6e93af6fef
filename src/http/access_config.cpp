#include "http/access_config.h"

#include <utility>

namespace pingloom::http {

Result<std::filesystem::path> parsePath(const yaml::Node& node,
                                        const std::filesystem::path& folder) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) return node.error("is empty");
  return (folder / *text).lexically_normal();
}

Result<AccessFiles> parseAccess(const yaml::Node& node, const std::filesystem::path& folder) {
  if (auto status = node.onlyKeys({"tokens", "certificate", "key"}); !status) {
    return tl::unexpected(status.error());
  }
  AccessFiles files;
  for (auto [key, out] :
       {std::pair{"tokens", &files.tokens}, std::pair{"certificate", &files.certificate},
        std::pair{"key", &files.key}}) {
    const auto value = node.find(key);
    if (!value) continue;
    auto path = parsePath(*value, folder);
    if (!path) return tl::unexpected(path.error());
    *out = std::move(*path);
  }
  if (files.certificate.empty() != files.key.empty()) {
    return node.error("TLS needs both: { certificate: FILE, key: FILE }");
  }
  if (files.empty()) {
    return node.error("is empty; write { tokens: FILE, certificate: FILE, key: FILE }");
  }
  return files;
}

}  // namespace pingloom::http
