// The `stores:` of a collector's configuration: which translators may write, and into what tables.
// A plain value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collector/stores/table_config.h"
#include "common/error.h"
#include "common/yaml.h"
#include "net/curve_key.h"
#include "store/store_messages.h"
#include "store/table_spec.h"

namespace pingloom::collector {

constexpr std::size_t kMaxStores = store::kMaxStores;
constexpr std::size_t kMaxKeys = 64;  // of a store's writers or readers
constexpr const char* kStoreFolder = "/dev/shm/pingloom";

struct StoreSpec {
  std::string translator;                // names the store; unique
  std::filesystem::path file;            // kStoreFolder/NAME.store unless set; unique
  bool shared = false;                   // several translators of that name add to it
  std::optional<net::CurveKey> key;      // the translator's; there if and only if `keys:` is
  std::vector<net::CurveKey> writers;    // in the place of `key`, if the store is shared
  std::vector<net::CurveKey> readers;    // who may read the store by RDMA; empty without `keys:`
  std::vector<store::TableSpec> tables;  // 1 to store::kMaxTables
  std::vector<WatchedKey> watched;       // at most kMaxWatchedKeys
};
using StoreSpecs = std::vector<StoreSpec>;

// Reads the list, for common/config_reader.h.
Status readValue(const yaml::Node& node, StoreSpecs& stores);

}  // namespace pingloom::collector
