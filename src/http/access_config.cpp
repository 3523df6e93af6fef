#include "http/access_config.h"

#include "common/config_reader.h"

namespace pingloom::http {
namespace {

constexpr auto kAccessKeys = std::to_array<ConfigKey<AccessFiles>>({
    {"tokens", readField<&AccessFiles::tokens>},
    {"certificate", readField<&AccessFiles::certificate>},
    {"key", readField<&AccessFiles::key>},
});

}  // namespace

Status readValue(const yaml::Node& node, AccessFiles& files) {
  if (auto status = readMap(node, kAccessKeys, files); !status) return status;
  if (files.certificate.empty() != files.key.empty()) {
    return node.error("TLS needs both: { certificate: FILE, key: FILE }");
  }
  if (files.empty()) {
    return node.error("is empty; write { tokens: FILE, certificate: FILE, key: FILE }");
  }
  return {};
}

}  // namespace pingloom::http
