// The `keys:` section that agents, collectors and controllers have in their configurations. Plain
// values; any thread.
#pragma once

#include <filesystem>
#include <vector>

#include "common/error.h"
#include "common/yaml.h"
#include "net/curve_key.h"

namespace pingloom::keys {

constexpr std::size_t kMaxControllerKeys = 4;

// `keys: { secret: FILE, ... }`. Relative paths are relative to `folder`.
Result<std::filesystem::path> readSecretPath(const yaml::Node& section,
                                             const std::filesystem::path& folder);
Result<net::CurveKey> readPublicKey(const yaml::Node& node);
// One, or a list of at most kMaxControllerKeys.
Result<std::vector<net::CurveKey>> readPublicKeys(const yaml::Node& node);

}  // namespace pingloom::keys
