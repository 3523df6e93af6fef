// The `tables:` of a store in a collector's configuration. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/yaml.h"
#include "store/table_spec.h"

namespace pingloom::collector {

// A key whose value or count is shown in the collector's metrics.
struct WatchedKey {
  std::string table;
  std::string text;  // as it is written
  std::vector<std::uint8_t> bytes;
};
constexpr std::size_t kMaxWatchedKeys = 1000;  // of a store

struct StoreTables {
  std::vector<store::TableSpec> specs;  // 1 to store::kMaxTables
  std::vector<WatchedKey> watched;
};

// Reads the list. A store of all these tables is possible.
Status readTables(const yaml::Node& node, StoreTables& tables);

}  // namespace pingloom::collector
