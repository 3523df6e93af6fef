// The `keys:` section in the configurations of agents, collectors and controllers. Plain values;
// any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/error.h"
#include "common/yaml.h"
#include "net/curve_key.h"

namespace pingloom::keys {

constexpr std::size_t kMaxControllerKeys = 4;

// Reads the path in `keys: { secret: FILE, ... }`, which has to be there.
Status readSecretPath(const yaml::Node& section, std::filesystem::path& secret);
// Reads the file of the secret key unless it was read before.
Status loadOwn(const std::filesystem::path& secret, std::optional<net::CurvePair>& own);
Result<net::CurveKey> readPublicKey(const yaml::Node& node);
// Reads one key, or a list of at most kMaxControllerKeys.
Result<std::vector<net::CurveKey>> readPublicKeys(const yaml::Node& node);

}  // namespace pingloom::keys
