#include "keys/key_config.h"

#include "common/config_reader.h"
#include "keys/key_file.h"

namespace pingloom::keys {

Status readSecretPath(const yaml::Node& section, std::filesystem::path& secret) {
  const auto node = section.find("secret");
  if (!node) return section.error("'secret' is missing: the file of the secret key");
  return readValue(*node, secret);
}

Status loadOwn(const std::filesystem::path& secret, std::optional<net::CurvePair>& own) {
  if (own) return {};
  const auto pair = readSecretKey(secret);
  if (!pair) return tl::unexpected(pair.error());
  own = *pair;
  return {};
}

Result<net::CurveKey> readPublicKey(const yaml::Node& node) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto key = net::CurveKey::parse(*text);
  if (!key) return node.error(key.error().reason + "; in quotes if it has other than letters");
  return *key;
}

Result<std::vector<net::CurveKey>> readPublicKeys(const yaml::Node& node) {
  std::vector<yaml::Node> nodes = {node};
  if (node.isSequence()) nodes = node.items();
  if (nodes.empty() || nodes.size() > kMaxControllerKeys) {
    return node.error("expected a public key, or a list of 1 to 4");
  }
  std::vector<net::CurveKey> keys;
  for (const yaml::Node& item : nodes) {
    const auto key = readPublicKey(item);
    if (!key) return tl::unexpected(key.error());
    keys.push_back(*key);
  }
  return keys;
}

}  // namespace pingloom::keys
