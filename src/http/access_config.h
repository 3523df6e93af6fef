// `http_access` of the daemons' configurations: { tokens: FILE, certificate: FILE, key: FILE }.
#pragma once

#include <filesystem>

#include "common/error.h"
#include "common/yaml.h"

namespace pingloom::http {

// Empty paths: not configured. A certificate has its key; both are PEM.
struct AccessFiles {
  std::filesystem::path tokens;
  std::filesystem::path certificate;
  std::filesystem::path key;

  bool empty() const { return tokens.empty() && certificate.empty(); }
};

// Relative paths are relative to `folder`.
Result<AccessFiles> parseAccess(const yaml::Node& node, const std::filesystem::path& folder);

// How a client gets in: the file of its token, and of the certificates it trusts (system's, if
// none).
struct ClientFiles {
  std::filesystem::path token;
  std::filesystem::path ca;
};

// A path, relative to `folder`.
Result<std::filesystem::path> parsePath(const yaml::Node& node,
                                        const std::filesystem::path& folder);

}  // namespace pingloom::http
