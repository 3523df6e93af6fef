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

// `http_access`, for common/config_reader.h; relative paths are relative to the file's folder.
Status readValue(const yaml::Node& node, AccessFiles& files);

// How a client gets in: the file of its token, and of the certificates it trusts (system's, if
// none).
struct ClientFiles {
  std::filesystem::path token;
  std::filesystem::path ca;
};

}  // namespace pingloom::http
